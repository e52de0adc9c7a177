//! The protocol of `lock-runtime` as a model that a checker explores to exhaustion.
//!
//! `cargo test -p lock-model` explores every configuration of [`configurations`] and prints how many
//! states each has. `cargo run --release -p lock-model -- --deep [name…]` adds a third client where
//! there are two, and allows one more of each fault where there are three: tens of millions of
//! states. Where the lock moves, it makes times longer. Without `--deep` it explores the named
//! configurations, and shows the steps that break a rule.
//!
//! # What is modelled
//!
//! - [`server`]: the scripts of plain locks and of shares, as pure functions. The test `scripts/random` of
//!   `lock-tests` runs random sequences on them and on a real server, and compares answers, announcements and
//!   records.
//! - `client`, `conduct`, `outstanding`: a client's steps, each from one wait to the next. They cover local
//!   queues, owners, polls, outstanding commands and taint, renewal, loss by the local clock, release,
//!   hand-off to a successor, settling, local turns, retained leases, shares, locks that become shares, and locks that
//!   stay taken for a minimum.
//! - `network`: one connection for each client, in order both ways. A connection that is torn down loses
//!   its replies. Its commands are lost or arrive late, in order.
//! - `faults`, `fault_steps`: the faults and what each of them does.
//! - `moves`, `move_steps`: the lock goes from one server to another, with its slot or when a replica takes over. What
//!   clients do then is in `conduct::moves`.
//! - `audit`, `properties`: what must hold. Each script's run is compared from outside with what
//!   may change; states are compared with the invariants.
//! - `recovery`: every 64th state is run on without faults. Every call must then be served, and no record
//!   be left. (A checker that sees each state once cannot see that all histories end well.)
//! - [`several`]: callers that acquire several locks together. It is a model of its own, since what a client does for one
//!   lock is the same for several, and one more lock for every configuration would multiply its states.
//! - [`quorum`]: a lock on a majority of nodes, with the scripts of a node and the ballot of an owner. It is a model of its
//!   own, since each node is a server of its own.
//! - [`frames`]: how the bodies, guards and carried futures of one process share a lease. It is a model of
//!   its own, since frames meet the rest only where a lease is released.
//!
//! # Bounds
//!
//! A configuration has up to three clients, up to four calls of one client, and a budget of each fault.
//! Nothing else is bounded: histories have any length. Time goes in steps. Each client may be slow at every
//! point, which is what a pause is. Leases, claims, heartbeats and windows are a few steps long, in the
//! proportions of the real ones. A command arrives within `delay` steps on a live connection and `late`
//! steps on a dead one, or never; answers take any time. Polls come at any time, not only when they are
//! due. All clocks run at the same speed: the margin of a deadline is arithmetic, and tested in
//! `lock-runtime`.
//!
//! States count as one if they differ only in which client is which, in when they happen, or in the numbers
//! of tokens and owners (`canonical`). The checker knows states by 64-bit fingerprints. For some millions of
//! states the chance that two share one is below one in a million.
//!
//! One script grants one or two shares instead of 32, and looks at four waiters instead of 128. An owner has one
//! entry in the queue, while a lock that becomes a share may have two there: one without and one with the tag.
//!
//! Doubled commands arrive twice in a row: a connection keeps its order, and clients do not repeat
//! a command on a second connection without counting the first as unanswered. Forks are not
//! modelled: a forked child sends nothing.
//!
//! # Scenarios
//!
//! | scenario | configurations |
//! |---|---|
//! | command lost, reply lost | lost, lost with a successor, lost renewals |
//! | doubled | doubled, doubled with a successor |
//! | delayed past a teardown; a late acquire after its own confirmed release | torn, torn giving up, torn with a successor, restart |
//! | NOSCRIPT between an acquire and its dropped future's end | forgotten scripts |
//! | giving up against a grant; stale and unknown pushes | giving up; unknown announcements, and forgotten |
//! | one local waiter gives up while another stays | local queue, two local queues |
//! | expiry with the head live, stopped, half-open, unsubscribed, each for n waiters | three clients, crash, unsubscribed |
//! | all pushes lost for good; a cluster's pushes that count no receiver | unsubscribed, uncounted |
//! | claim lapse, then late confirmation; poll and hand-off in either order | three clients, short leases |
//! | a foreign client takes at expiry, deletes, holds without a ttl | foreign holder, deleted, eternal foreign holder |
//! | an operator revokes the lock: twice, of another grant than it saw, with a lost fence, between two turns, from readers, at rest | every `revoked`; shares, revoked; rest, revoked |
//! | failover drops any suffix of history; a resurrected entry | failover |
//! | the clock ahead, back, behind the last token; back after long idleness | clock, clock behind, evicted |
//! | F or Q evicted or of a wrong type, K of a wrong type | evicted, wrong fence, wrong queue, wrong lock |
//! | out of memory at each script | out of memory |
//! | slot migration with each subset of the keys missing | migration, migration with a successor |
//! | a slot moves to its end: each subset of the keys on each of two nodes, ASK, MOVED and TRYAGAIN, giving up, the next node's clock behind | every `slot moves` |
//! | another server takes over with every change, its clock behind or ahead | takeover, clock behind; takeover, clock ahead |
//! | another server takes over without the last changes: a grant, a release, a renewal or an entry undone; its clock behind | every `lost suffix` |
//! | two primaries for a while, with renewals, a broken connection, a successor | every `two primaries` |
//! | several locks: opposite orders, with callers of one of them, renewal, giving up, crash, a torn connection, a deleted record | every one of [`several`] |
//! | frames: outer cancelled with a carried child, a grandchild outlives its parent | [`frames`] |
//! | pauses before hand-over, in mid-poll, between the body's end and the release | every one |
//! | release unanswered past the deadline | lost, late |
//! | shutdown with a running sync body | shutdown, shutdown sync |
//! | restart with and without data | restart, empty restart |
//! | release by a command that compares and deletes: a waiter in between, lost, doubled, delayed past a teardown, after a failover | deletes, three clients; deletes, lost; deletes, doubled; deletes, torn; deletes, deleted; deletes, failover; deletes, turns |
//! | a lease is retained: range exhausted, message before, while and after, mixed ttls, attempts, giving up, renewal, crash, loss, a broken connection, shutdown | retained, retained by both, and every other `retained` |
//! | local turns: range exhausted, mixed ttls, giving up, renewal, crash, loss between two turns | turns, three turns, turns against turns, turns of mixed ttls, turns giving up, turns renewal, turns crash, turns lost, turns torn, turns deleted |
//!
//! | readers, permits and locks in every order, with scripts that know nothing of shares, or with writers that do | readers and a writer, readers and a writer's end, permits, permits and a lock |
//! | renewal of shares; the longest share leaves first; lapsed shares, more than a script looks at | readers, renewal; readers of mixed ttls; permits, short walks |
//! | shares with the faults above | every `shares, …`; permits, doubled |
//! | a minimum hold: with callers of the same process, local turns, a reader, renewal, and the faults above | every `rest` |
//! | a lock becomes a share: lost, late with another writer in between, past a teardown, after local turns | every `downgrade` |
//!
//! `conduct::local_turns` states the rule of local turns and of retained leases exactly.
//!
//! Where no lease can exclude (`Class::Fenced`), tokens must rise with every grant. If one server grants, and its clock
//! is not behind, the server's holder must have the highest token of all holders. A resource that refuses tokens below the highest it has seen
//! then refuses every stale write. Shares of one phase have one token, so it does not tell them from each other.
//!
//! # Moves
//!
//! Nothing is lost while a slot moves, or when a server takes over that has every change and whose clock is not ahead:
//! every rule holds. Where a failover loses changes, or two primaries serve for a while, two bodies may run. Then these
//! rules hold:
//!
//! - A holder that the new primary does not know has not noticed it yet, or is asking it ([`properties::INFORMED`]).
//! - No client uses the old primary for longer than it takes to notice the new one ([`properties::NOTICED`]).
//! - An owner that ended before, and is back, is gone after the longest lease, or the heartbeat and the claim of a
//!   waiter ([`properties::BROUGHT_BACK`]).
//! - Tokens rise with every grant of either primary. If the new one's clock is behind, and the last grants are lost,
//!   they rise with every grant that the new one knows of.
//! - Every call is served.
//!
//! A server whose clock is behind takes every token from the fence. Two primaries know the same scripts. A message of
//! one of a slot's two nodes reaches clients of the other by the bus, and counts no receiver there. Shares and retained
//! leases do not move in this model.
//!
//! # Mistakes
//!
//! [`Seeded`] lists mistakes that the model can make, and `tests/mistakes.rs` asserts that each is found.
//! `tests/several.rs` does so for [`several::Mistake`]. Two of the first were mistakes of the runtime that the model found: [`Seeded::ForgottenInTime`] and
//! [`Seeded::SuccessorForgotten`]. Five were mistakes in the design of shares: [`Seeded::EndedStaysQueued`],
//! [`Seeded::SharesNamedAgain`], [`Seeded::DowngradeLate`], [`Seeded::DowngradeRenewsAlone`] and
//! [`Seeded::CountedTwice`]. The head of `conduct::shares` has the rules of locks that become shares.

mod audit;
mod canonical;
mod choices;
mod client;
mod conduct;
mod configuration;
pub mod configurations;
mod delivery;
mod explore;
mod fault_steps;
mod faults;
mod fingerprint;
pub mod frames;
mod move_steps;
mod moves;
mod network;
mod outstanding;
pub mod properties;
pub mod quorum;
mod recovery;
mod seeded;
pub mod server;
pub mod several;
mod world;

pub use configuration::{Class, Configuration};
pub use explore::{Explore, Report, explore, explore_for};
pub use faults::{Budget, Fault};
pub use seeded::Seeded;
pub use world::{Action, World};
