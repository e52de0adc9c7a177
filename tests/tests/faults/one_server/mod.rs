//! What happens to one server, and on the way to it, that no row of the fault table has.

mod cuts;
mod restarts;
mod several;
mod silence;

use lock_runtime::{LockError, LockGuard};
use tokio::task::JoinHandle;

/// A task that waits for locks.
type Waiting = JoinHandle<Result<LockGuard, LockError>>;
