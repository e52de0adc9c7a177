//! How a command that a node did not carry out goes on.

use std::time::Duration;

use crate::backend::redis::node_error::NodeError;
use crate::backend::redis::redirect::Redirect;
use crate::backend::wire::error::WireError;

/// Redirections in a row after which nodes that contradict each other are given time to agree.
const MAX_HOPS: u32 = 5;

/// That time.
const DISAGREEMENT: Duration = Duration::from_millis(20);

const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The way of one command.
#[derive(Debug, Default)]
pub(super) struct Route {
    hops: u32,
    pauses: u32,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    /// The node that this names has the slot: note that, pause, and send the command there.
    Moved(Redirect, Duration),
    /// The node that this names has the lock, and not yet the slot.
    Ask(Redirect),
    /// Pause, and send the command again.
    Again(WireError, Duration),
    /// The map may be out of date: have it refreshed, pause, and send the command again.
    Refresh(WireError, Duration),
    Fail(WireError),
}

impl Route {
    /// What comes after an error. `jitter` is from 0 to 1.
    pub(super) fn after(&mut self, error: NodeError, jitter: f64) -> Next {
        match error {
            NodeError::Redirected(redirect) if redirect.is_moved => {
                self.hops += 1;
                let agrees = !self.hops.is_multiple_of(MAX_HOPS);
                let pause = if agrees { Duration::ZERO } else { DISAGREEMENT };
                Next::Moved(*redirect, pause)
            }
            NodeError::Redirected(redirect) => {
                self.hops += 1;
                match self.hops.is_multiple_of(MAX_HOPS) {
                    true => Next::Again(unsettled(redirect.slot), DISAGREEMENT),
                    false => Next::Ask(*redirect),
                }
            }
            NodeError::SlotMoves(error) => Next::Again(error, self.pause(jitter)),
            NodeError::NotNow(error) | NodeError::Gone(error) => {
                Next::Refresh(error, self.pause(jitter))
            }
            NodeError::Final(error) => Next::Fail(error),
        }
    }

    /// The next pause. They grow, and callers that were refused together come back one by one.
    fn pause(&mut self, jitter: f64) -> Duration {
        let pause = SHORTEST_PAUSE * 2_u32.saturating_pow(self.pauses);
        self.pauses += 1;
        pause.min(LONGEST_PAUSE).mul_f64(1.0 + jitter)
    }
}

/// The error of a command that was sent from node to node until its time was up.
pub(super) fn unsettled(slot: u16) -> WireError {
    WireError::unavailable(format!("the nodes do not agree on who has slot {slot}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redirected(is_moved: bool) -> NodeError {
        NodeError::Redirected(Box::new(Redirect {
            slot: 7,
            host: "h".to_owned(),
            port: 1,
            is_moved,
        }))
    }

    #[test]
    fn redirection_is_followed_at_once_and_a_circle_of_them_after_pauses() {
        let mut route = Route::default();
        let pauses: Vec<_> = (0..10)
            .map(|_| match route.after(redirected(true), 0.0) {
                Next::Moved(_, pause) => !pause.is_zero(),
                next => panic!("{next:?}"),
            })
            .collect();
        let expected = [false, false, false, false, true].repeat(2);
        assert_eq!(pauses, expected);
    }

    #[test]
    fn circle_of_permissions_to_ask_ends() {
        let mut route = Route::default();
        let asks = (0..10).filter(|_| matches!(route.after(redirected(false), 0.0), Next::Ask(_)));
        assert_eq!(asks.count(), 8);
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
    fn refusal_is_final() {
        let error = NodeError::Final(WireError::refused("NOPERM"));
        assert!(matches!(
            Route::default().after(error, 0.0),
            Next::Fail(WireError::Refused(_))
        ));
    }
}
