//! The protocol's commands on Redis and Valkey.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redis::Value;

use super::command::{Argument, millis};
use super::connect::Settings;
use super::fence_memory::FenceMemory;
use super::hello::ServerMode;
use super::node::{Purpose, ScriptCall, SendEvent};
use super::scripts::{self, ScriptSet, Scripts};
use super::shortcut::Shortcut;
use super::topology::Topology;
use super::url::{Servers, Target};
use crate::backend::wire::error::WireError;
use crate::backend::wire::first_command::FirstCommand;
use crate::backend::wire::outstanding::Outstanding;
use crate::backend::wire::owner::Owner;
use crate::backend::wire::reply::{AcquireReply, Answered, EndReply};
use crate::backend::wire::{
    AcquireRequest, EndRequest, ReleaseRequest, Renewal, RenewalOutcome, RestRequest, Wire,
    WireEvents,
};
use crate::background::Background;
use crate::config::Options;
use crate::key::{LockName, OneOrMore, RecordNames};
use crate::lease::Mode;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::record::Grant;
use crate::lease::schedule::Extension;

/// A wire to Redis or Valkey.
pub(crate) struct RedisWire {
    pub(super) topology: Topology,
    /// The user that it is logged in as.
    pub(super) user: String,
    pub(super) scripts: &'static ScriptSet,
}

impl RedisWire {
    /// A wire to the servers of a URL. Does not connect before the first command.
    pub(crate) fn new(
        target: Target,
        options: &Options,
        background: Background,
        events: Arc<dyn WireEvents>,
    ) -> RedisWire {
        let Target { servers, login } = target;
        let expected = match servers {
            Servers::One(_) => ServerMode::Standalone,
            Servers::Cluster(_) => ServerMode::ClusterNode,
            Servers::Sentinels(_) => ServerMode::Primary,
        };
        let user = login.username().unwrap_or("default").to_owned();
        let settings = Settings::new(login, expected, options, background);
        RedisWire {
            user,
            topology: Topology::new(servers, settings, events),
            scripts: ScriptSet::with(FenceMemory::of(options.fence_memory)),
        }
    }
}

/// The time in µs since 1970, for those who look at a record that has it in place of a token.
#[expect(clippy::disallowed_methods, reason = "no lease is counted by it")]
fn wall_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(0))
}

impl Wire for RedisWire {
    const HAS_QUEUE: bool = true;
    const HAS_SUCCESSORS: bool = true;

    type Subscription = Infallible;

    fn subscription(&self, _: &LockName) -> Option<Infallible> {
        None
    }

    async fn listen(&self, _: &Owner) -> Result<bool, WireError> {
        Ok(false)
    }

    async fn acquire(
        &self,
        owner: &mut Owner,
        request: AcquireRequest,
    ) -> Result<Answered<AcquireReply>, WireError> {
        let AcquireRequest { ttl, queue, first } = request;
        let Owner {
            entry,
            names,
            mode,
            outstanding,
            ..
        } = owner;
        let number = (first == FirstCommand::Take).then(|| FencingToken::absent(wall_clock()));
        let signed = if queue { millis(ttl) } else { -millis(ttl) };
        let call = ScriptCall {
            script: &self.scripts.of(*mode, names).acquire,
            names,
            arguments: &[Argument::Entry(entry), Argument::Number(signed)],
            shortcut: number.map(|number| Shortcut::Take {
                entry,
                number,
                ttl: millis(ttl),
            }),
        };
        let note = noting_acquire(outstanding, ttl, queue);
        let Answered { at, answer } = self.topology.run(Purpose::Acquire, &call, note).await?;
        let answer = match (answer, number) {
            (Value::Okay, Some(token)) => AcquireReply::Granted(Grant {
                contended: false,
                token,
            }),
            (answer, _) => scripts::parse_acquire_reply(answer, *mode, names)?,
        };
        Ok(Answered { at, answer })
    }

    async fn downgrade(&self, owner: &mut Owner, ttl: Duration) -> RenewalOutcome {
        let Owner {
            entry,
            names,
            mode,
            outstanding,
            ..
        } = owner;
        let call = ScriptCall {
            script: &self.scripts.of(*mode, names).acquire,
            names,
            arguments: &[
                Argument::Entry(entry),
                Argument::Number(-millis(ttl)),
                Argument::Text("held"),
            ],
            shortcut: None,
        };
        let note = noting_acquire(outstanding, ttl, false);
        let Answered { at, answer } = self.topology.run(Purpose::Acquire, &call, note).await?;
        let answer = scripts::parse_renew_reply(&answer)?;
        Ok(Answered { at, answer })
    }

    async fn mint(
        &self,
        owner_id: OwnerId,
        names: &OneOrMore<RecordNames>,
    ) -> Result<Option<FencingToken>, WireError> {
        let call = ScriptCall {
            script: self.scripts.mint(),
            names,
            arguments: &[Argument::Text(owner_id.as_str())],
            shortcut: None,
        };
        let Answered { answer, .. } = self.topology.run(Purpose::Acquire, &call, |_| {}).await?;
        scripts::mint::parse_mint_reply(&answer)
    }

    async fn renew(
        &self,
        renewals: &[Renewal],
        mut report: impl FnMut(usize, RenewalOutcome) + Send,
    ) {
        let outcomes = self.topology.renew(renewals).await.into_iter();
        outcomes
            .enumerate()
            .for_each(|(number, outcome)| report(number, outcome));
    }

    async fn release(
        &self,
        owner: &mut Owner,
        request: ReleaseRequest,
    ) -> Result<EndReply, WireError> {
        let Owner {
            entry,
            names,
            mode,
            outstanding,
            ..
        } = owner;
        let call = ScriptCall {
            script: &Scripts::of(*mode, names).release,
            names,
            arguments: &[Argument::Member(&entry.owner_id, *mode)],
            // The record of a lock that is shared does not name the owner.
            shortcut: (mode.share().is_none() && names.is_one()).then_some(Shortcut::Release {
                entry,
                number: request.number,
            }),
        };
        let note = |event: SendEvent| match event {
            SendEvent::Sending(on) => outstanding.ending(on),
            SendEvent::Unsent(_) | SendEvent::Answered(_) | SendEvent::Refused(_) => {
                outstanding.ending_is_known();
            }
        };
        let answered = self.topology.run(Purpose::End, &call, note).await?;
        scripts::parse_release_reply(&answered.answer)
    }

    async fn rest(&self, owner: &mut Owner, request: RestRequest) -> Result<EndReply, WireError> {
        let Owner {
            entry,
            names,
            outstanding,
            ..
        } = owner;
        let call = ScriptCall {
            script: Scripts::rest(),
            names,
            arguments: &[
                Argument::Text(entry.owner_id.as_str()),
                // A part of a millisecond counts as one.
                Argument::Number(millis(request.time) + 1),
            ],
            shortcut: None,
        };
        let note = |event: SendEvent| match event {
            SendEvent::Sending(on) => outstanding.ending(on),
            SendEvent::Unsent(_) | SendEvent::Answered(_) | SendEvent::Refused(_) => {
                outstanding.ending_is_known();
            }
        };
        let answered = self.topology.run(Purpose::End, &call, note).await?;
        scripts::parse_rest_reply(&answered.answer)
    }

    async fn end(
        &self,
        owner: &mut Owner,
        request: EndRequest<'_>,
    ) -> Result<Answered<EndReply>, WireError> {
        let Owner {
            entry,
            names,
            mode,
            outstanding,
            ..
        } = owner;
        let mut arguments = [Argument::Entry(entry); 3];
        let mut successor = request.successor.map(|successor| {
            let Owner {
                entry, outstanding, ..
            } = successor.owner;
            (&*entry, outstanding, successor.ttl)
        });
        let (script, arguments) = match &successor {
            Some((entry, _, ttl)) => {
                debug_assert!(mode.share().is_none(), "a share has no local turns");
                arguments[1] = Argument::Entry(entry);
                arguments[2] = Argument::Number(millis(*ttl));
                (self.scripts.end_with_successor(), &arguments[..])
            }
            None => (&self.scripts.of(*mode, names).end, &arguments[..1]),
        };
        let call = ScriptCall {
            script,
            names,
            arguments,
            shortcut: None,
        };
        let note = |event: SendEvent| match event {
            SendEvent::Sending(on) => {
                outstanding.ending(on);
                if let Some((_, outstanding, ttl)) = &mut successor {
                    outstanding.sending(on, *ttl, true);
                }
            }
            SendEvent::Unsent(on) => {
                outstanding.ending_is_known();
                if let Some((_, outstanding, _)) = &mut successor {
                    outstanding.unsent(on);
                }
            }
            SendEvent::Answered(on) => {
                outstanding.ending_is_known();
                if let Some((_, outstanding, _)) = &mut successor {
                    outstanding.answered(on);
                }
            }
            SendEvent::Refused(on) => {
                outstanding.ending_is_known();
                if let Some((_, outstanding, _)) = &mut successor {
                    outstanding.refused(on);
                }
            }
        };
        let Answered { at, answer } = self.topology.run(Purpose::End, &call, note).await?;
        let answer = scripts::parse_end_reply(&answer)?;
        Ok(Answered { at, answer })
    }

    async fn replicated(&self, owner: &Owner, ttl: Duration) -> Result<(), WireError> {
        let renewal = Renewal {
            owner_id: owner.entry.owner_id,
            names: owner.names.clone(),
            mode: owner.mode,
            extension: Extension { ttl, extends: true },
        };
        self.topology.replicated(renewal).await
    }

    async fn has_replicas(&self, owner: &Owner) -> Result<(), WireError> {
        // Of an owner that asks for a share, too: what it writes is not its share.
        let renewal = Renewal {
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

    fn read_messages(&self, lock: &LockName) {
        if let Some(connection) = self.topology.connection_of(lock) {
            connection.transport.read_messages();
        }
    }

    fn apart(&self, renewals: Vec<Renewal>) -> Vec<Vec<Renewal>> {
        self.topology.apart(renewals)
    }

    fn keep_reading_messages(&self) {
        for connection in self.topology.connections() {
            connection.transport.keep_reading_messages();
        }
    }

    async fn ping(&self) -> Result<(), WireError> {
        self.topology.ping().await
    }
}

/// Notes what happens to an acquire of an owner.
fn noting_acquire(
    outstanding: &mut Outstanding,
    ttl: Duration,
    queue: bool,
) -> impl FnMut(SendEvent) {
    move |event| match event {
        SendEvent::Sending(on) => outstanding.sending(on, ttl, queue),
        SendEvent::Unsent(on) => outstanding.unsent(on),
        SendEvent::Answered(on) => outstanding.answered(on),
        SendEvent::Refused(on) => outstanding.refused(on),
    }
}
