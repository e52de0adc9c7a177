//! Compares the order in which a nested call takes locks with that of other calls.

use super::{Acquire, BY_HAND};
use crate::call_tree;
use crate::error::{LockError, LockErrorKind};
use crate::key::{self, LockKey, OneOrMore};
use crate::lease::Mode;
use crate::lock_order::{
    Class, Crossing, Hold, Keys, Lock, Nested, News, Origin, Party, Ring, Verdict, Wait,
};
use crate::telemetry::{self, CallLabels};

impl Acquire {
    /// Compares the order of the locks that the call tree holds, and of those that this call is about to wait for, with the
    /// order in which other calls of the client take them.
    ///
    /// A call that does not wait, or goes on without the lock, leaves no one waiting for long. What it holds afterwards
    /// counts all the same for the calls inside it.
    pub(super) fn check_order(
        &self,
        locks: &OneOrMore<key::Lock>,
        mode: Mode,
        labels: &CallLabels,
    ) -> Result<(), LockError> {
        if self.skips || self.bounded_wait().is_zero() {
            return Ok(());
        }
        let (wait, asker) = (Wait::of(mode), party(labels));
        let mut news = News::default();
        let mut refusal: Option<(Ring, LockKey)> = None;
        self.core.order.with(|graph| {
            call_tree::for_each_hold(self.core.number, |frame| {
                let lease = frame.lease();
                let crossing = Crossing {
                    hold: Hold::of(frame.outermost_mode()),
                    wait,
                    holder: party(&lease.trace.labels),
                    asker,
                };
                for held in lease.keys.iter() {
                    for asked in locks.iter().map(|lock| &lock.key) {
                        let nested = Nested {
                            held: lock(held, &lease.trace.labels),
                            asked: lock(asked, labels),
                            crossing,
                        };
                        if let Verdict::Refused(ring) = graph.see(&nested, &mut news) {
                            refusal.get_or_insert((ring, asked.clone()));
                        }
                    }
                }
            });
        });
        self.report(&news);
        match refusal {
            None => Ok(()),
            Some((ring, key)) => Err(LockError::new(LockErrorKind::OutOfOrder)
                .with_key(&key)
                .with_detail(format!("{}; {}", ring.calls(Keys::Shown), ring.advice()))),
        }
    }

    /// Outside the mutex: subscribers may lock themselves.
    fn report(&self, news: &News) {
        let keys = if self.core.options.log_keys {
            Keys::Shown
        } else {
            Keys::Hidden
        };
        for ring in &news.rings {
            let template = ring.closed_by().template;
            telemetry::lock_order(template, &ring.path(keys), &ring.calls(keys), ring.advice());
        }
        for bound in &news.reached {
            telemetry::lock_order_full(bound, bound.advice());
        }
    }
}

fn party(labels: &CallLabels) -> Party {
    Party {
        function: labels.function,
        template: labels.template,
        place: labels.place,
    }
}

fn lock<'a>(key: &'a LockKey, labels: &CallLabels) -> Lock<'a> {
    Lock {
        class: class(key, labels),
        key: key.as_str(),
    }
}

/// The class of a lock: the text of its template around the values, its name, or its key where it has neither.
fn class<'a>(key: &'a LockKey, labels: &CallLabels) -> Class<'a> {
    let is_named = labels.function.is_empty() && labels.template != BY_HAND;
    let of_the_program = if is_named {
        Some(labels.template)
    } else {
        key.outline()
    };
    match of_the_program {
        Some(text) => Class {
            text,
            origin: Origin::Code,
        },
        None => Class {
            text: key.as_str(),
            origin: Origin::Key,
        },
    }
}

#[cfg(test)]
mod tests;
