//! The protocol of `lock-runtime` as a model that a checker explores to exhaustion.
//!
//! `cargo test -p lock-model` explores the small configurations of [`configurations`], and with
//! `LOCK_TEST_LONG=1` all of them, and prints their numbers of states, and the steps that break a
//! rule. It also walks at random through larger ones ([`Walk`]), for as many seconds as
//! `LOCK_TEST_WALK` says.
//!
//! # What is modelled
//!
//! - `backend`: files of the runtime, as they ship. They include the machines that compete for a
//!   lock, decide what follows when its holder is done, and end its owner.
//! - [`server`]: the scripts of plain locks and of shares, as pure functions. The test `scripts/random` of
//!   `lock-tests` runs random sequences on them and on the scripts themselves, and compares answers, announcements and
//!   records.
//! - `client`, `conduct`: a client's steps, each from one wait to the next. The machines decide;
//!   these modules carry out their commands and report the outcomes. They implement renewals, the
//!   loss by the local clock, mints and downgrades themselves.
//! - `conduct::acquisition` and `conduct::leases` have the plain command that takes a free lock without a token, and the mint of
//!   a token for a body that asks. A configuration that `takes` begins with that command.
//! - `network`: one connection for each client, in order both ways. A connection that is torn down loses
//!   its replies. Its commands are lost or arrive late, in order.
//! - `faults`, `fault_steps`: the faults and what each of them does.
//! - `moves`, `move_steps`: the lock goes from one server to another, with its slot or when a
//!   replica takes over. `conduct::moves` has the reactions of clients.
//! - `audit`, `properties`: the rules. Each script's run is compared from outside with the changes
//!   that it may make; states are compared with the invariants.
//! - `recovery`: every 64th state is continued without faults. Every call must then be served, and
//!   no record may remain. (A checker that sees each state once cannot see that all histories end
//!   well.)
//! - `admission`: every 64th state in which the lock is shared is continued while the holders stay
//!   inside, with each client paused in turn and with none paused. Every waiter that fits must get
//!   in within a lease, or within two claims.
//! - `together`: calls that take several locks.
//! - [`quorum`]: a lock on a majority of nodes, with the scripts of a node and the ballot of an
//!   owner. It is a separate model, since each node is an independent server.
//!
//! # Bounds
//!
//! A configuration has up to three clients, up to four calls of one client, and a budget of each fault.
//! Nothing else is bounded: histories have any length. Time advances in steps. Each client may be
//! slow at every point, which models a pause. Leases, claims, heartbeats and windows are a few
//! steps long, in the proportions of the real ones. A command arrives within `delay` steps on a
//! live connection and `late` steps on a dead one, or never; answers take any time. Polls come at
//! any time, not only when they are due. All clocks run at the same speed: the margin of a deadline
//! is arithmetic, and tested in `lock-runtime`.
//!
//! States count as one if they differ only in the order of clients, in absolute time, or in the
//! numbers of tokens and owners (`canonical`). A 64-bit fingerprint identifies a state. With some
//! millions of states the chance of a collision is below one in a million.
//!
//! One script grants one or two shares instead of 32, and examines four waiters instead of 128. An
//! owner has one entry in the queue, while a downgraded lock may have two there: one without and
//! one with the tag.
//!
//! A duplicated command arrives twice in a row: a connection keeps its order, and clients do not
//! repeat a command on a second connection without counting the first as unanswered. The client
//! knows about a duplicated end, just as it does when the wire repeats one. Forks are not modelled:
//! a forked child sends nothing.
//!
//! # Scenarios
//!
//! Each configuration lists the scenarios that it covers (`configurations`, `quorum`). All of them
//! include pauses before the hand-over, in mid-poll, and between the body's end and the release.
//!
//! `conduct::local_turns` states the rule of local turns and of retained leases exactly.
//!
//! Where no lease can exclude (`Class::Fenced`), tokens must rise with every grant. If one server
//! grants, and its clock is not behind, the server's holder must have the highest token of all
//! holders. A resource that refuses tokens below the highest it has seen then refuses every stale
//! write. Shares of one phase have one token, so the resource cannot distinguish them.
//!
//! # Locks without a token
//!
//! A plain command takes a free lock even if waiters queue. So it may overtake a live waiter, but
//! only after a holder lost the lock, and until that waiter polls: in every other case a lock with
//! a queue goes from holder to holder. Among the bodies that asked for a token, tokens rise in the
//! order of holding. A body that did not ask has none to compare.
//!
//! # Moves
//!
//! Nothing is lost while a slot moves, or when a server takes over that has every change and whose
//! clock is not ahead: every rule holds. When a failover loses changes, or two primaries serve for
//! a while, two bodies may run. Then these rules hold:
//!
//! - A holder that the new primary does not know has not noticed it yet, or is asking it ([`properties::INFORMED`]).
//! - No client uses the old primary for longer than it takes to notice the new one ([`properties::NOTICED`]).
//! - An ended owner that a failover restores is gone after the longest lease, or the heartbeat and
//!   the claim of a waiter ([`properties::BROUGHT_BACK`]).
//! - Tokens rise with every grant of either primary. If the new primary's clock is behind, and the
//!   last grants are lost, they rise with every grant that it knows.
//! - Every call is served.
//!
//! A server whose clock is behind takes every token from the fence. Two primaries know the same
//! scripts. The cluster bus carries a message from one node of a moving slot to clients of the
//! other, and counts no receiver there. Shares and retained leases do not move in this model.
//!
//! # Mistakes
//!
//! [`Seeded`] and [`quorum::Mistake`] list mistakes that the model can make, and
//! `tests/explorations/mistakes.rs` asserts that each is found. `tests/explorations/controls.rs`
//! removes safety lines of the runtime ([`SafetyLine`]). The model found two of the mistakes in the
//! runtime: [`Seeded::ForgottenInTime`] and [`Seeded::SuccessorForgotten`]. It found five in the
//! design of shares: [`Seeded::EndedStaysQueued`], [`Seeded::SharesNamedAgain`],
//! [`Seeded::DowngradeTakes`], [`Seeded::DowngradeRenewsAlone`] and [`Seeded::CountedTwice`].
//! `conduct::shares` documents the rules of locks that become shares.

// Doctests of the shared files run where those files ship.
#![cfg(not(doctest))]
#![allow(
    missing_docs,
    reason = "its items are for tests alone, and documented where their names do not say all"
)]

/// An enum, and `ALL` of its variants.
macro_rules! listed {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $mistake:ident,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$what])* $mistake,)+
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$mistake),+];
        }
    };
}

/// A budget of these events, with the number of times that each may happen.
macro_rules! budget {
    ($($event:ident: $times:literal),+) => {
        Budget { $($event: $times,)+ ..NOTHING }
    };
}

mod admission;
mod audit;
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "the runtime asks for more"
)]
mod backend;
#[allow(dead_code, reason = "the runtime asks for more")]
mod background;
mod canonical;
mod choices;
mod client;
mod conduct;
mod configuration;
pub mod configurations;
mod control;
mod delivery;
mod explore;
mod fault_steps;
mod faults;
mod fingerprint;
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "the runtime asks for more"
)]
mod lease;
mod move_steps;
mod moves;
mod network;
pub mod properties;
pub mod quorum;
mod recovery;
mod seeded;
pub mod server;
mod together;
mod walk;
mod world;

pub use audit::Breach;
pub use configuration::{Class, Configuration};
pub use control::SafetyLine;
pub use explore::{Explore, Report};
pub use faults::{Budget, Fault};
pub use seeded::Seeded;
pub use walk::{Broken, Enough, Walk, Walked, all as walks, seed};
pub use world::{Action, World};
