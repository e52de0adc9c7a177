//! Decides how to continue after a node did not carry out a command.

use std::time::Duration;

use crate::backend::redis::node::NodeError;
use crate::backend::redis::redirect::Redirect;
use crate::backend::wire::error::WireError;

/// The number of redirections that one command follows without a pause: to the slot's node, to the node that imports
/// the slot, and once more if both were stale. After that, nodes that contradict each other get time to agree.
const AT_ONCE: u32 = 4;

/// The pauses before a command is sent again. Together with the redirections before, they limit one command to some
/// thirty attempts a second, whatever the answers are.
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The history of one command's routing.
#[derive(Debug, Default)]
pub(super) struct Route {
    /// How often a node answered MOVED.
    moves: u32,
    /// How often a node answered ASK.
    asks: u32,
    pauses: u32,
    /// The last refusal by a node that could not carry the command out for the moment.
    refused: Option<WireError>,
}

/// The next step for a command.
#[derive(Debug)]
pub(super) enum Next {
    /// The named node has the slot: note that, pause, and send the command there.
    Moved(Redirect, Duration),
    /// The named node has the lock, but not the slot yet: pause, and ask that node.
    Ask(Redirect, Duration),
    /// Pause, and send the command again.
    Again(WireError, Duration),
    /// The map may be stale: refresh it, pause, and send the command again.
    Refresh(WireError, Duration),
    Fail(WireError),
}

impl Route {
    /// Returns the next step after an error. `jitter` is between 0 and 1.
    pub(super) fn after(&mut self, error: NodeError, jitter: f64) -> Next {
        match error {
            NodeError::Redirected(redirect, _) if redirect.is_moved => {
                self.moves += 1;
                Next::Moved(*redirect, self.redirected(jitter))
            }
            NodeError::Redirected(redirect, _) => {
                self.asks += 1;
                Next::Ask(*redirect, self.redirected(jitter))
            }
            NodeError::SlotMoves(error) => Next::Again(error, self.pause(jitter)),
            NodeError::NotNow(error) => {
                self.refused = Some(error.clone());
                Next::Refresh(error, self.pause(jitter))
            }
            NodeError::Gone(error) => Next::Refresh(error, self.pause(jitter)),
            // The last attempt may have no time left for its answer. The refusals before explain the failure.
            NodeError::Final(WireError::Unavailable(detail)) => {
                let last = WireError::Unavailable(detail);
                Next::Fail(self.refused.take().unwrap_or(last))
            }
            NodeError::Final(error) => Next::Fail(error),
        }
    }

    /// Returns the pause before the last redirection is followed.
    fn redirected(&mut self, jitter: f64) -> Duration {
        if self.moves + self.asks <= AT_ONCE {
            Duration::ZERO
        } else {
            self.pause(jitter)
        }
    }

    /// Returns the next pause. Pauses grow, and jitter separates callers that were refused together.
    fn pause(&mut self, jitter: f64) -> Duration {
        let pause = SHORTEST_PAUSE * 2_u32.saturating_pow(self.pauses);
        self.pauses += 1;
        pause.min(LONGEST_PAUSE).mul_f64(1.0 + jitter)
    }
}

/// Returns the error of a command that was redirected until its time was up.
pub(super) fn unsettled(slot: u16) -> WireError {
    WireError::unavailable(format!("the nodes do not agree on who has slot {slot}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::wire::outstanding::ConnectionId;

    fn redirected(is_moved: bool) -> NodeError {
        let redirect = Redirect {
            slot: 7,
            host: "h".to_owned(),
            port: 1,
            is_moved,
        };
        NodeError::Redirected(Box::new(redirect), ConnectionId(1))
    }

    #[test]
    fn redirections_are_followed_at_once_and_a_circle_of_them_after_pauses_that_grow() {
        for kinds in [[true, true], [false, false], [true, false]] {
            let mut route = Route::default();
            let kinds = kinds.into_iter().cycle().take(10);
            let pauses = kinds.map(|is_moved| match route.after(redirected(is_moved), 0.0) {
                Next::Moved(_, pause) | Next::Ask(_, pause) => pause.as_millis(),
                next => panic!("{next:?}"),
            });
            let pauses: Vec<_> = pauses.collect();
            assert_eq!(pauses, [0, 0, 0, 0, 5, 10, 20, 40, 50, 50]);
        }
    }

    #[test]
    fn pauses_grow_up_to_a_bound() {
        let mut route = Route::default();
        let error = || NodeError::SlotMoves(WireError::unavailable("TRYAGAIN"));
        let pauses: Vec<_> = (0..6)
            .map(|_| match route.after(error(), 0.0) {
                Next::Again(_, pause) => pause.as_millis(),
                next => panic!("{next:?}"),
            })
            .collect();
        assert_eq!(pauses, [5, 10, 20, 40, 50, 50]);
        let Next::Again(_, pause) = route.after(error(), 1.0) else {
            panic!("no pause")
        };
        assert_eq!(pause, 2 * LONGEST_PAUSE);
    }

    #[test]
    fn node_that_fails_is_a_sign_that_the_map_is_out_of_date() {
        for error in [NodeError::NotNow, NodeError::Gone] {
            let error = error(WireError::unavailable("CLUSTERDOWN"));
            let next = Route::default().after(error, 0.0);
            assert!(matches!(next, Next::Refresh(..)), "{next:?}");
        }
    }

    #[test]
    fn command_that_runs_out_of_time_fails_with_what_the_node_said() {
        let mut route = Route::default();
        let silent = || NodeError::Final(WireError::unavailable("no answer"));
        let said = |next| match next {
            Next::Fail(error) => error.to_string(),
            next => panic!("{next:?}"),
        };
        assert_eq!(said(route.after(silent(), 0.0)), "no answer");
        let down = WireError::unavailable("CLUSTERDOWN The cluster is down");
        route.after(NodeError::NotNow(down.clone()), 0.0);
        assert_eq!(said(route.after(silent(), 0.0)), down.to_string());
    }

    #[test]
    fn refusal_is_final() {
        let error = NodeError::Final(WireError::refused("NOPERM"));
        assert!(matches!(
            Route::default().after(error, 0.0),
            Next::Fail(WireError::Refused(_))
        ));
    }
}
