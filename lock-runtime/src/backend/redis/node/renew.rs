//! Renews many leases on one node.

use std::sync::Arc;
use std::time::Instant;

use redis::Value;

use super::{Node, Renewed, script_lost};
use crate::backend::redis::connection::{Connection, SendError};
use crate::backend::redis::node::NodeError;
use crate::backend::redis::renewals::WaitReplicas;
use crate::backend::redis::{CLOCK, scripts};
use crate::backend::wire::Renewal;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::control::is_removed;

impl Node {
    /// Extends leases in one pipeline, which `write` appends, with or without the scripts' sources. If the server lacks
    /// a script, a second pipeline carries it. With `wait`, a lease counts as extended only if enough replicas have it.
    pub(in crate::backend::redis) async fn renew(
        &self,
        renewals: &[&Renewal],
        write: impl Fn(&mut Vec<u8>, &[&Renewal], bool) + Sync,
        wait: Option<WaitReplicas>,
        until: Instant,
    ) -> Vec<Renewed> {
        let by_digest =
            |output: &mut Vec<u8>, renewals: &[&Renewal]| write(output, renewals, false);
        let by_source = |output: &mut Vec<u8>, renewals: &[&Renewal]| write(output, renewals, true);
        let mut connection = match self.connect(until).await {
            Ok(connection) => connection,
            Err(error) => return renewals.iter().map(|_| Err(error.clone())).collect(),
        };
        let mut results = self
            .renew_all(&mut connection, renewals, by_digest, wait, until)
            .await;
        let lacks_script = |result: &Option<Renewed>| result.is_none();
        let missed: Vec<&Renewal> = renewals
            .iter()
            .zip(&results)
            .filter(|(_, result)| lacks_script(result))
            .map(|(&renewal, _)| renewal)
            .collect();
        if !missed.is_empty() {
            let repeated = self
                .renew_all(&mut connection, &missed, by_source, wait, until)
                .await;
            results
                .iter_mut()
                .filter(|result| lacks_script(result))
                .zip(repeated)
                .for_each(|(result, repeated)| *result = repeated);
        }
        results
            .into_iter()
            .map(|result| result.unwrap_or_else(|| Err(NodeError::Final(script_lost()))))
            .collect()
    }

    /// Sends renewals in the pipeline that `write` appends, except those of leases that were lost during the wait for a
    /// connection. A result is `None` if the server lacks the script.
    async fn renew_all(
        &self,
        connection: &mut Arc<Connection>,
        renewals: &[&Renewal],
        write: impl Fn(&mut Vec<u8>, &[&Renewal]) + Sync,
        wait: Option<WaitReplicas>,
        until: Instant,
    ) -> Vec<Option<Renewed>> {
        let mut unsent = 0;
        loop {
            let over: Vec<bool> = renewals.iter().map(|renewal| renewal.is_over()).collect();
            let both = renewals.iter().zip(&over);
            let held: Vec<&Renewal> = both
                .filter(|&(_, is_over)| !is_over)
                .map(|(&renewal, _)| renewal)
                .collect();
            let sent = if held.is_empty() {
                Ok(Vec::new())
            } else {
                self.renew_held(connection, &held, &write, wait, until)
                    .await
            };
            let sent = match sent {
                Ok(sent) => sent,
                Err(NothingSent) => match self.reconnect(&mut unsent, until).await {
                    Ok(another) => {
                        *connection = another;
                        continue;
                    }
                    Err(error) => held.iter().map(|_| Some(Err(error.clone()))).collect(),
                },
            };
            let mut sent = sent.into_iter();
            let outcome = |is_over| {
                if is_over {
                    Some(Err(NodeError::Final(lease_is_over())))
                } else {
                    sent.next().flatten()
                }
            };
            return over.into_iter().map(outcome).collect();
        }
    }

    async fn renew_held(
        &self,
        connection: &Arc<Connection>,
        renewals: &[&Renewal],
        write: impl Fn(&mut Vec<u8>, &[&Renewal]) + Sync,
        wait: Option<WaitReplicas>,
        until: Instant,
    ) -> Result<Vec<Option<Renewed>>, NothingSent> {
        let write = |output: &mut Vec<u8>| {
            write(output, renewals);
            wait.inspect(|wait| wait.write(output));
        };
        let count = renewals.len() + usize::from(wait.is_some());
        let at = CLOCK.now();
        let answers = self.connection.send_all(connection, count, &write, until);
        let answered = match answers.await {
            Err(SendError::Unsent) => return Err(NothingSent),
            answers => answers.map_err(|error| self.describe(error)),
        };
        let at = if is_removed!(lease_from_before_the_renewal) {
            CLOCK.now()
        } else {
            at
        };
        let error = match answered {
            Ok(mut answers) if answers.len() == count => {
                let replicated = match wait {
                    Some(wait) => self.check_replicas(connection, wait, answers.pop()),
                    None => Ok(()),
                };
                let read = |answer: Value| match answer.extract_error() {
                    Ok(value) => {
                        let answer = scripts::parse_renew_reply(&value);
                        let answered = answer.map(|answer| Answered { at, answer });
                        let answered = answered.map_err(NodeError::Final);
                        Some(answered.and_then(|answered| replicated.clone().map(|()| answered)))
                    }
                    Err(error) => self.classify(connection, &error).map(Err),
                };
                return Ok(answers.into_iter().map(read).collect());
            }
            Ok(_) => NodeError::Final(WireError::unavailable("some answers are missing")),
            Err(error) => error,
        };
        Ok(renewals.iter().map(|_| Some(Err(error.clone()))).collect())
    }

    /// Checks, from the answer to WAIT, that enough replicas have all writes before it.
    fn check_replicas(
        &self,
        connection: &Connection,
        wait: WaitReplicas,
        answer: Option<Value>,
    ) -> Result<(), NodeError> {
        let answer = answer.unwrap_or(Value::Nil);
        let answer = answer.extract_error().map_err(|error| {
            let no_script = || NodeError::Final(script_lost());
            self.classify(connection, &error).unwrap_or_else(no_script)
        })?;
        let needed = wait.replicas;
        match answer {
            Value::Int(replicas) if replicas >= i64::from(needed) => Ok(()),
            Value::Int(replicas) => Err(NodeError::Final(WireError::unavailable(format!(
                "{replicas} of {needed} replicas acknowledged the lock within {:?}",
                wait.timeout
            )))),
            _ => Err(NodeError::Final(WireError::unavailable(
                "WAIT was answered with something else",
            ))),
        }
    }
}

/// None of the bytes were written, and another connection may carry them.
struct NothingSent;

/// Returns the outcome of a renewal that is not sent. The loss of the lease is reported instead.
pub(in crate::backend::redis) fn lease_is_over() -> WireError {
    WireError::unavailable("its lease is over")
}
