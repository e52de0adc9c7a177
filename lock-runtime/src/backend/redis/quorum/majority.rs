//! Collects the answers of a majority, and of the nodes that answer soon after.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use super::ballot::place::Reason;
use super::quorum_nodes::QuorumNodes;
use crate::backend::wire::error::WireError;

/// How long to wait for the remaining nodes after a majority has answered.
pub(super) const LAST: Duration = Duration::from_millis(50);

impl QuorumNodes {
    /// Returns the answers of at least a majority, each with the number of its node. `asking` has a future for each
    /// node. A silent node delays the others only for a moment.
    pub(super) async fn heard<T>(
        &self,
        asking: impl Iterator<Item = impl Future<Output = Result<T, WireError>>>,
    ) -> Result<Vec<(usize, T)>, WireError> {
        self.heard_within(Some(LAST), asking).await
    }

    /// Like `heard`, but waits this long for the remaining nodes, or with `None` as long as `asking` does.
    pub(super) async fn heard_within<T>(
        &self,
        last: Option<Duration>,
        asking: impl Iterator<Item = impl Future<Output = Result<T, WireError>>>,
    ) -> Result<Vec<(usize, T)>, WireError> {
        let mut asking: Vec<Pin<Box<_>>> = asking.map(Box::pin).collect();
        let mut answers: Vec<Option<Result<T, WireError>>> = asking.iter().map(|_| None).collect();
        let mut until = async |enough: usize| {
            poll_fn(|cx| {
                for (node, answer) in asking.iter_mut().zip(&mut answers) {
                    if answer.is_none()
                        && let Poll::Ready(ready) = node.as_mut().poll(cx)
                    {
                        *answer = Some(ready);
                    }
                }
                let count = |is: fn(&Option<Result<T, WireError>>) -> bool| {
                    answers.iter().filter(|answer| is(answer)).count()
                };
                let are_all = count(Option::is_some) == answers.len();
                let is_enough = count(|answer| matches!(answer, Some(Ok(_)))) >= enough;
                if are_all || is_enough {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        };
        until(self.majority()).await;
        match last {
            Some(last) => {
                let timers = self.background.timers();
                let last = Instant::now() + last;
                let _ = timers.timeout_at(last, until(self.len())).await;
            }
            None => until(self.len()).await,
        }
        let silent = || Err(WireError::unavailable("it has not answered yet"));
        let answers = answers.into_iter();
        self.of_a_majority(answers.map(|answer| answer.unwrap_or_else(silent)))
    }

    fn of_a_majority<T>(
        &self,
        answers: impl Iterator<Item = Result<T, WireError>>,
    ) -> Result<Vec<(usize, T)>, WireError> {
        let (mut heard, mut reasons) = (Vec::new(), Vec::new());
        for (node, answer) in answers.enumerate() {
            match answer {
                Ok(answer) => heard.push((node, answer)),
                Err(error) => reasons.push((node, Reason::of(&error))),
            }
        }
        if heard.len() >= self.majority() {
            Ok(heard)
        } else {
            Err(self.too_few(&reasons))
        }
    }
}
