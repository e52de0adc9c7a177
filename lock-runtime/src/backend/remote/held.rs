//! Lists the locks that this client holds.

use crate::backend::remote::Remote;
use crate::key::LockName;
use crate::lease::Mode;
use crate::state::LocalHold;

impl Remote {
    /// Returns the locks that callers of this client hold. Sends nothing.
    pub(crate) fn held(&self) -> Vec<LocalHold> {
        // In a forked child the locks belong to the parent, and the mutex may stay locked for ever.
        if self.check_process().is_err() {
            return Vec::new();
        }
        let now = self.now();
        let (mut held, mut queues): (Vec<LocalHold>, Vec<(LockName, Mode)>) =
            (Vec::new(), Vec::new());
        {
            let registry = self.registry();
            let delivered = registry
                .entries()
                .filter(|entry| entry.lease.is_delivered());
            for entry in delivered.filter(|entry| !entry.lease.is_over()) {
                let lease = &entry.lease;
                queues.push((entry.owner.names.first().lock.clone(), entry.owner.mode));
                held.push(LocalHold {
                    keys: lease.keys.iter().cloned().collect(),
                    function: lease.trace.labels.function(),
                    token: lease.known_token(),
                    age: now.since(entry.holding.granted_at()),
                    remaining: lease.remaining(),
                    waiting_callers: 0,
                });
            }
        }
        // Not under the registry's mutex, which comes after this one in the order.
        let local = self.queues();
        for (held, (lock, mode)) in held.iter_mut().zip(queues) {
            if mode.share().is_none() {
                held.waiting_callers = local.waiting(&lock);
            }
        }
        held
    }
}
