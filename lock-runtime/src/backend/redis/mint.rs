//! A fencing token for a holder that took its lock without one.

use redis::Value;

use super::CLOCK;
use super::encoder::{self, Argument};
use super::node::{Purpose, ScriptCall};
use super::records::string_record::micros;
use super::redis_wire::{Records, RedisWire};
use super::scripts::{self, ScriptSet};
use super::transport::{ConnectionLost, SendOrder};
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::background::moment::Moment;
use crate::key::{OneOrMore, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;

/// When a lock was granted, or what makes that irrelevant.
pub(super) enum GrantTime {
    /// µs since 1970.
    At(i64),
    /// The holder has a token already, or the lock is not the owner's.
    Minted(Answered<Option<FencingToken>>),
}

impl RedisWire {
    pub(crate) async fn mint(
        &self,
        owner_id: OwnerId,
        names: &OneOrMore<RecordNames>,
        granted_at: Moment,
    ) -> Result<Answered<Option<FencingToken>>, WireError> {
        let Records::Native(scripts) = &self.records else {
            return Err(WireError::refused("each grant has a token here"));
        };
        match self
            .grant_time(scripts, owner_id, names, granted_at)
            .await?
        {
            GrantTime::Minted(minted) => Ok(minted),
            GrantTime::At(time) => {
                let arguments = [Argument::Text(owner_id.as_str()), Argument::Number(time)];
                let Answered { at, answer } = self.run_mint(scripts, names, &arguments).await?;
                let answer = scripts::parse_mint_reply(&answer)?;
                Ok(Answered { at, answer })
            }
        }
    }

    /// Returns when an owner was granted its lock, for which it asked at `granted_at`. Asks the server for the time,
    /// unless a server has told it lately.
    pub(super) async fn grant_time(
        &self,
        scripts: &ScriptSet,
        owner_id: OwnerId,
        names: &OneOrMore<RecordNames>,
        granted_at: Moment,
    ) -> Result<GrantTime, WireError> {
        let now = CLOCK.now();
        if let Some(reading) = self.clock.reading(now) {
            self.renew_reading(names.first(), now);
            return Ok(GrantTime::At(reading.time_of(granted_at)));
        }
        let arguments = [Argument::Text(owner_id.as_str())];
        let Answered { at, answer } = self.run_mint(scripts, names, &arguments).await?;
        let Value::Int(time) = answer else {
            let answer = scripts::parse_mint_reply(&answer)?;
            return Ok(GrantTime::Minted(Answered { at, answer }));
        };
        let reading = self.clock.hear(time, at, CLOCK.now());
        let reading = reading.map_err(|took| {
            WireError::unavailable(format!(
                "the server took {took:?} to tell the time for a token"
            ))
        })?;
        Ok(GrantTime::At(reading.time_of(granted_at)))
    }

    /// Asks for another reading if it is time to, which does not matter to this caller.
    fn renew_reading(&self, names: &RecordNames, now: Moment) {
        let Some(connection) = self.topology.connection_of(&names.lock) else {
            return;
        };
        if !self.clock.begin_renewal(now) {
            return;
        }
        let clock = self.clock.clone();
        let on_answer = move |answer: Result<Value, ConnectionLost>| {
            let time = answer.ok().and_then(|answer| micros(&answer));
            if let Some(time) = time.and_then(|time| i64::try_from(time).ok()) {
                let _ = clock.hear(time, now, CLOCK.now());
            }
        };
        let write = |output: &mut Vec<u8>| encoder::write(output, &[Argument::Text("TIME")]);
        let transport = &connection.transport;
        transport.send_unawaited(SendOrder::WithNext, &write, Box::new(on_answer));
    }

    async fn run_mint(
        &self,
        scripts: &ScriptSet,
        names: &OneOrMore<RecordNames>,
        arguments: &[Argument<'_>],
    ) -> Result<Answered<Value>, WireError> {
        let call = ScriptCall {
            script: scripts.mint(),
            names,
            arguments,
            shortcut: None,
            trial: None,
        };
        self.topology
            .run(Purpose::Acquire, &call, &mut |_| {})
            .await
    }
}
