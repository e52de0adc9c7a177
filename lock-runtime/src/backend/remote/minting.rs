//! Mints a fencing token for a holder that took its lock without one.
//!
//! # Invariants
//!
//! - Only the owner that has the lock gets a token, only once, and higher than the fence. So tokens rise from holder to
//!   holder.
//! - The token is the time of the grant, however late the holder asks. So it is below the token of a holder to which
//!   another server has granted the lock since.

use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::backend::remote::Remote;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::remote::watchdog;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::Answered;
use crate::background::random;
use crate::error::LockError;
use crate::lease::fencing_token::FencingToken;
use crate::lease::{Lease, LossReason};

/// How many callers of a client may be asking for a token at the same time: fewer than the commands that a connection
/// has room for.
const MAX_MINTS: usize = 1024;

/// The places of the callers that ask for a token. The others wait in order, so that their command's time does not run
/// yet.
#[derive(Debug)]
pub(crate) struct MintPlaces(Semaphore);

impl Default for MintPlaces {
    fn default() -> MintPlaces {
        MintPlaces(Semaphore::new(MAX_MINTS))
    }
}

impl MintPlaces {
    async fn place(&self) -> SemaphorePermit<'_> {
        let place = self.0.acquire().await;
        place.expect("the semaphore is never closed")
    }
}

/// Returns the token of a lease. If the lease has none, asks the server, and retries for the time of one command, or for
/// as long as the caller of the lock waits (`wait_ends`) if that is longer. Ends when the lease ends.
///
/// Dropped at any time, it leaves a lease with or without a token. If no caller has seen the token, the next caller
/// under the same owner gets the same one: the server gives an owner one token.
pub(crate) async fn token(
    remote: &Arc<Remote>,
    lease: &Lease,
    wait_ends: Option<Instant>,
) -> Result<FencingToken, LockError> {
    remote.check_process()?;
    if let Some(token) = lease.known_token() {
        return Ok(token);
    }
    let minting = pin!(async {
        let _place = remote.mint_places.place().await;
        mint(remote, lease, wait_ends).await
    });
    tokio::select! {
        biased;
        minted = minting => minted,
        loss = lease.lost() => Err(lease.lost_error(loss)),
    }
}

async fn mint(
    remote: &Arc<Remote>,
    lease: &Lease,
    wait_ends: Option<Instant>,
) -> Result<FencingToken, LockError> {
    let timeout = remote.command_timeout;
    let shortest = Instant::now() + timeout;
    let until = wait_ends.map_or(shortest, |end| end.max(shortest));
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
