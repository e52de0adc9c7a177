//! Carries out the protocol's commands on Redis and Valkey.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redis::Value;

use super::connect::Settings;
use super::encoder::{Argument, millis};
use super::fence_retention::FenceRetention;
use super::hello::ServerMode;
use super::login::Login;
use super::mint::GrantTime;
use super::node::{Purpose, ScriptCall};
use super::redisson::{self, Listeners, Redisson, RedissonEvents, SCRIPTS, Subscription};
use super::scripts::{self, ScriptSet, Scripts};
use super::server_clock::ServerClock;
use super::shortcut::Shortcut;
use super::topology::Topology;
use super::trial::Trial;
use super::url::{Servers, Target};
use crate::backend::wire::error::WireError;
use crate::backend::wire::first_command::FirstCommand;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{AcquireReply, Answered, EndReply};
use crate::backend::wire::{AcquireRequest, End, Renewal, RenewalOutcome, WireEvents};
use crate::background::Background;
use crate::background::moment::Moment;
use crate::config::{LockRecord, Options};
use crate::error::LockError;
use crate::key::LockName;
use crate::lease::Mode;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;
use crate::lease::schedule::Extension;

/// A wire to Redis or Valkey.
pub(crate) struct RedisWire {
    pub(super) topology: Topology,
    pub(super) login: Arc<Login>,
    pub(super) records: Records,
    pub(super) clock: Arc<ServerClock>,
}

/// The format of the locks' records.
pub(super) enum Records {
    Native(&'static ScriptSet),
    /// The format of Java services that use Redisson, on one server.
    Redisson(Redisson),
}

/// In the place of the time of a grant that has a token.
const HAS_TOKEN: Argument<'static> = Argument::Text("0");

/// Parses the answer to an end.
type Parse = fn(&Value) -> Result<EndReply, WireError>;

impl RedisWire {
    /// Creates a wire to the servers of a URL. Connects with the first command.
    pub(crate) fn new(
        target: Target,
        options: &Options,
        background: Background,
        events: Arc<dyn WireEvents>,
    ) -> Result<RedisWire, LockError> {
        let Target { servers, login } = target;
        let expected = match servers {
            Servers::One(_) => ServerMode::Standalone,
            Servers::Cluster(_) => ServerMode::ClusterNode,
            Servers::Sentinels(_) => ServerMode::Primary,
        };
        let settings = Settings::new(login, expected, options, background);
        let login = settings.login.clone();
        let (topology, records) = match options.record {
            LockRecord::Native => {
                let scripts = ScriptSet::with(FenceRetention::of(options.fence_retention));
                let topology = Topology::new(servers, settings, events);
                (topology, Records::Native(scripts))
            }
            LockRecord::Redisson => {
                let listeners = Arc::new(Listeners::new());
                let events = RedissonEvents {
                    listeners: listeners.clone(),
                    events,
                };
                let topology = Topology::new(servers, settings, Arc::new(events));
                let redisson = Redisson::new(topology.only_node(), listeners)?;
                (topology, Records::Redisson(redisson))
            }
        };
        Ok(RedisWire {
            login,
            topology,
            records,
            clock: Arc::default(),
        })
    }

    pub(crate) fn has_queue(&self) -> bool {
        matches!(self.records, Records::Native(_))
    }

    pub(crate) fn has_successors(&self) -> bool {
        self.has_queue()
    }

    pub(crate) fn subscription(&self, lock: &LockName) -> Option<Subscription> {
        match &self.records {
            Records::Native(_) => None,
            Records::Redisson(redisson) => Some(redisson.subscription(lock)),
        }
    }

    pub(crate) async fn listen(&self, owner: &Owner) -> Result<bool, WireError> {
        match &self.records {
            Records::Native(_) => Ok(false),
            Records::Redisson(redisson) => redisson.listen(owner).await,
        }
    }

    pub(crate) async fn acquire(
        &self,
        owner: &mut Owner,
        request: AcquireRequest,
    ) -> Result<Answered<AcquireReply>, WireError> {
        let AcquireRequest { ttl, queue, first } = request;
        let queue = queue && self.has_queue();
        let Owner {
            entry,
            names,
            mode,
            outstanding,
            ..
        } = owner;
        let takes_plainly = first == FirstCommand::Take && self.has_queue();
        let number = takes_plainly.then(|| FencingToken::absent(wall_clock()));
        let (script, arguments) = match &self.records {
            Records::Native(scripts) => {
                let signed = if queue { millis(ttl) } else { -millis(ttl) };
                let arguments = [Argument::Entry(entry), Argument::Number(signed)];
                (&scripts.of(*mode, names).acquire, arguments)
            }
            Records::Redisson(redisson) => {
                let arguments = [
                    redisson.field(&entry.owner_id),
                    Argument::Number(millis(ttl)),
                ];
                (&SCRIPTS.acquire, arguments)
            }
        };
        let call = ScriptCall {
            script,
            names,
            arguments: &arguments,
            shortcut: number.map(|number| Shortcut::Take {
                entry,
                number,
                ttl: millis(ttl),
            }),
            trial: Some(match &self.records {
                Records::Native(_) => Trial::of(*mode),
                Records::Redisson(_) => Trial::Redisson,
            }),
        };
        let mut note = |event| outstanding.note_acquire(event, ttl, queue);
        let Answered { at, answer } = self
            .topology
            .run(Purpose::Acquire, &call, &mut note)
            .await?;
        let answer = match (answer, number, &self.records) {
            (Value::Okay, Some(token), _) => AcquireReply::Granted(Grant {
                contended: false,
                token,
            }),
            (answer, _, Records::Native(_)) => scripts::parse_acquire_reply(answer, *mode, names)?,
            (answer, _, Records::Redisson(_)) => redisson::parse_acquire_reply(answer)?,
        };
        Ok(Answered { at, answer })
    }

    pub(crate) async fn downgrade(
        &self,
        owner: &mut Owner,
        ttl: Duration,
        untokened_since: Option<Moment>,
    ) -> RenewalOutcome {
        let not_held = |at| Ok(Answered { at, answer: None });
        // Redisson's record has neither shares nor writers.
        let Records::Native(scripts) = &self.records else {
            return not_held(Moment::FIRST);
        };
        let granted_at = match untokened_since {
            None => HAS_TOKEN,
            Some(granted_at) => {
                let id = owner.entry.owner_id;
                match self
                    .grant_time(scripts, id, &owner.names, granted_at)
                    .await?
                {
                    GrantTime::At(time) => Argument::Number(time),
                    GrantTime::Minted(Answered {
                        answer: Some(_), ..
                    }) => HAS_TOKEN,
                    GrantTime::Minted(Answered { at, answer: None }) => return not_held(at),
                }
            }
        };
        let Owner {
            entry,
            names,
            mode,
            outstanding,
            ..
        } = owner;
        let call = ScriptCall {
            script: &scripts.of(*mode, names).acquire,
            names,
            arguments: &[
                Argument::Entry(entry),
                Argument::Number(-millis(ttl)),
                granted_at,
            ],
            shortcut: None,
            trial: None,
        };
        let mut note = |event| outstanding.note_acquire(event, ttl, false);
        let Answered { at, answer } = self
            .topology
            .run(Purpose::Acquire, &call, &mut note)
            .await?;
        let answer = scripts::parse_renew_reply(&answer)?;
        Ok(Answered { at, answer })
    }

    pub(crate) async fn renew(
        &self,
        renewals: &[Renewal],
        mut report: impl FnMut(usize, RenewalOutcome) + Send,
    ) {
        let outcomes = match &self.records {
            Records::Native(_) => self.topology.renew(renewals).await,
            Records::Redisson(redisson) => redisson.renew(renewals).await,
        };
        outcomes
            .into_iter()
            .enumerate()
            .for_each(|(number, outcome)| report(number, outcome));
    }

    pub(crate) async fn end(
        &self,
        owner: &mut Owner,
        how: End<'_>,
    ) -> Result<Answered<EndReply>, WireError> {
        let Owner {
            entry,
            names,
            mode,
            outstanding,
            ..
        } = owner;
        let (mut shortcut, mut successor) = (None, None);
        // Only the first `count` of them are sent.
        let mut arguments = [Argument::Entry(entry); 3];
        let (script, count, parse): (_, _, Parse) = match (&self.records, how) {
            // A call that asks for a minimum hold was already refused.
            (Records::Redisson(_), End::Reserve { .. }) => {
                return Err(WireError::refused("Redisson's record has no minimum hold"));
            }
            // The owner is in no queue, so a release leaves nothing of it.
            (Records::Redisson(redisson), End::Release { .. } | End::Whole { .. }) => {
                arguments[0] = redisson.field(&entry.owner_id);
                (&SCRIPTS.release, 1, scripts::parse_release_reply)
            }
            (Records::Native(_), End::Release { number }) => {
                arguments[0] = Argument::Member(&entry.owner_id, *mode);
                // The record of a shared lock does not contain the owner.
                let is_named = mode.share().is_none() && names.is_one();
                shortcut = is_named.then_some(Shortcut::Release { entry, number });
                let script = &Scripts::of(*mode, names).release;
                (script, 1, scripts::parse_release_reply)
            }
            (Records::Native(_), End::Reserve { time }) => {
                arguments[0] = Argument::Text(entry.owner_id.as_str());
                // Rounded up to the next millisecond.
                arguments[1] = Argument::Number(millis(time) + 1);
                (Scripts::reserve(), 2, scripts::parse_reserve_reply)
            }
            (Records::Native(scripts), End::Whole { successor: None }) => {
                (&scripts.of(*mode, names).end, 1, scripts::parse_end_reply)
            }
            (
                Records::Native(scripts),
                End::Whole {
                    successor: Some(next),
                },
            ) => {
                debug_assert!(mode.share().is_none(), "a share has no local turns");
                let Owner {
                    entry, outstanding, ..
                } = next.owner;
                arguments[1] = Argument::Entry(entry);
                arguments[2] = Argument::Number(millis(next.ttl));
                successor = Some((outstanding, next.ttl));
                (scripts.end_with_successor(), 3, scripts::parse_end_reply)
            }
        };
        let call = ScriptCall {
            script,
            names,
            arguments: &arguments[..count],
            shortcut,
            trial: None,
        };
        let mut note = |event| {
            outstanding.note_end(event);
            if let Some((outstanding, ttl)) = &mut successor {
                outstanding.note_acquire(event, *ttl, true);
            }
        };
        let Answered { at, answer } = self.topology.run(Purpose::End, &call, &mut note).await?;
        let answer = parse(&answer)?;
        Ok(Answered { at, answer })
    }

    pub(crate) async fn replicated(&self, owner: &Owner, ttl: Duration) -> Result<(), WireError> {
        let renewal = Renewal {
            lease: None,
            owner_id: owner.entry.owner_id,
            names: owner.names.clone(),
            mode: owner.mode,
            extension: Extension { ttl, extends: true },
        };
        self.topology.replicated(renewal).await
    }

    pub(crate) async fn has_replicas(&self, owner: &Owner) -> Result<(), WireError> {
        // Exclusive even for an owner that asks for a share, since no share is written here.
        let renewal = Renewal {
            lease: None,
            owner_id: owner.entry.owner_id,
            names: owner.names.clone(),
            mode: Mode::Exclusive,
            extension: Extension {
                ttl: Duration::ZERO,
                extends: false,
            },
        };
        self.topology.replicated(renewal).await
    }

    pub(crate) fn read_messages(&self, lock: &LockName) {
        if let Some(connection) = self.topology.connection_of(lock) {
            connection.transport.read_messages();
        }
    }

    pub(crate) fn apart(&self, renewals: Vec<Renewal>) -> Vec<Vec<Renewal>> {
        self.topology.apart(renewals)
    }

    pub(crate) fn keep_reading_messages(&self) {
        for connection in self.topology.connections() {
            connection.transport.keep_reading_messages();
        }
    }

    pub(crate) async fn ping(&self) -> Result<(), WireError> {
        self.topology.ping().await
    }
}

/// The time in µs since 1970, for people who read a record without a token.
#[expect(clippy::disallowed_methods, reason = "no lease is counted by it")]
fn wall_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(0))
}
