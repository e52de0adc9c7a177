//! Mints a fencing token for a holder that took its lock without one.
//!
//! # Invariants
//!
//! - Only the owner that has the lock gets a token, only once, and higher than the fence. So tokens rise from holder to
//!   holder.
//! - The token is the time of the grant, however late the holder asks. So it is below the token of a holder to which
//!   another server has granted the lock since.

use std::sync::Arc;
use std::time::Instant;

use crate::backend::remote::Remote;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::remote::watchdog;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::background::random;
use crate::error::LockError;
use crate::lease::fencing_token::FencingToken;
use crate::lease::{Lease, LossReason};

/// Returns the token of a lease. If the lease has none, asks the server, and retries for the time of one command.
///
/// Dropped at any time, it leaves a lease with or without a token. If no caller has seen the token, the next caller
/// under the same owner gets the same one: the server gives an owner one token.
pub(crate) async fn token(remote: &Arc<Remote>, lease: &Lease) -> Result<FencingToken, LockError> {
    remote.check_process()?;
    let timeout = remote.command_timeout;
    let until = Instant::now() + timeout;
    let mut failures = 0;
    // The error of the last attempt replaces this one, and is more specific.
    let silence = format!("the server did not answer within {timeout:?}");
    let mut unanswered = WireError::unavailable(silence);
    loop {
        if let Some(token) = lease.known_token() {
            return Ok(token);
        }
        if let Some(loss) = lease.loss() {
            return Err(lease.lost_error(loss));
        }
        let grant = remote.registry().grant(lease);
        let Some((names, granted_at)) = grant else {
            return Err(lease.lost_error(lease.lose(LossReason::NotOurs)));
        };
        let minting = remote.wire.mint(lease.owner_id, &names, granted_at);
        match remote.timers().timeout_at(until, minting).await {
            Ok(Ok(Answered {
                at,
                answer: Some(answer),
            })) => {
                // Bound first, to unlock the registry: subscribers see the token, and may block.
                let token = remote.registry().minted(lease, Answered { at, answer });
                if let Some(token) = token {
                    lease.minted(token);
                }
            }
            Ok(Ok(Answered { answer: None, .. })) => {
                watchdog::declare_lost(remote, lease.owner_id, Some(LossReason::NotOurs));
            }
            Ok(Err(WireError::Unavailable(error))) => {
                unanswered = WireError::Unavailable(error);
                failures += 1;
                let pause = Instant::now() + backoff(failures, random::jitter());
                remote.timers().sleep_until(pause.min(until)).await;
            }
            Ok(Err(error)) => return Err(error.into_error().with_key(lease.keys.first())),
            Err(_) => return Err(unanswered.into_error().with_key(lease.keys.first())),
        }
    }
}
