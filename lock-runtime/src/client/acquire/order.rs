//! Compares the order in which a call takes locks with the order of other calls.

use super::options::OnBusy;
use super::{Acquire, is_name};
use crate::call_tree;
use crate::error::{LockError, LockErrorKind};
use crate::key::{self, KeyTemplate, LockKey, OneOrMore};
use crate::lease::Mode;
use crate::lock_order::{
    Class, Crossing, Graph, Hold, Keys, Link, Lock, News, Origin, Party, Ring, Step, Verdict, Wait,
};
use crate::telemetry::{self, CallLabels};

/// A call that is about to wait for locks.
struct Asker<'a> {
    locks: &'a OneOrMore<key::Lock>,
    mode: Mode,
    labels: &'a CallLabels,
}

/// The result of the comparison.
#[derive(Default)]
struct Outcome {
    news: News,
    /// The first ring that makes the call fail, and the lock that it asks for there.
    refusal: Option<(Ring, LockKey)>,
}

impl Acquire {
    /// Compares the order of the locks that the call tree holds, followed by the locks for which this call is about to
    /// wait, with the order in which other calls of the client take them.
    ///
    /// A call that does not wait, or goes on without the lock, keeps nobody waiting for long. The locks that it holds
    /// afterwards still count for the calls inside it.
    pub(super) fn check_order(
        &self,
        locks: &OneOrMore<key::Lock>,
        mode: Mode,
        labels: &CallLabels,
    ) -> Result<(), LockError> {
        if self.options.on_busy == OnBusy::Skip || self.bounded_wait().is_zero() {
            return Ok(());
        }
        let asker = Asker {
            locks,
            mode,
            labels,
        };
        let mut outcome = Outcome::default();
        self.core.order.with(|graph| {
            asker.see_nested(self.core.number, graph, &mut outcome);
            asker.see_together(graph, &mut outcome);
        });
        self.report(&outcome.news);
        match outcome.refusal {
            None => Ok(()),
            Some((ring, key)) => Err(LockError::new(LockErrorKind::OutOfOrder)
                .with_key(&key)
                .with_detail(format!("{}; {}", ring.calls(Keys::Shown), ring.advice()))),
        }
    }

    /// Reports outside the mutex, since subscribers may take locks themselves.
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

impl Asker<'_> {
    /// Adds an edge from each lock that the call tree holds to each lock of this call.
    fn see_nested(&self, client: u64, graph: &mut Graph, outcome: &mut Outcome) {
        call_tree::for_each_hold(client, |frame| {
            let lease = frame.lease();
            let crossing = Crossing {
                step: Step::Nested,
                hold: Hold::of(frame.outermost_mode()),
                wait: Wait::of(self.mode),
                holder: party(&lease.trace.labels),
                asker: party(self.labels),
            };
            for held in lease.keys.iter() {
                for asked in self.locks.iter().map(|lock| &lock.key) {
                    let held = lock(held, &lease.trace.labels);
                    outcome.see(graph, held, (asked, self.labels), crossing);
                }
            }
        });
    }

    /// Adds the edges of a call for several locks, which keeps the locks that it has while it waits for the next.
    fn see_together(&self, graph: &mut Graph, outcome: &mut Outcome) {
        if self.locks.is_one() {
            return;
        }
        let by = party(self.labels);
        let crossing = Crossing {
            step: Step::Together,
            hold: Hold::of(self.mode),
            wait: Wait::of(self.mode),
            holder: by,
            asker: by,
        };
        let keys = || self.locks.iter().map(|lock| &lock.key);
        let locks = keys().map(|key| lock(key, self.labels));
        let refusal = graph.see_together(locks, crossing, &mut outcome.news);
        if let Some((place, ring)) = refusal
            && let Some(key) = keys().nth(place)
        {
            outcome.refusal.get_or_insert((ring, key.clone()));
        }
    }
}

impl Outcome {
    fn see(
        &mut self,
        graph: &mut Graph,
        held: Lock<'_>,
        (key, labels): (&LockKey, &CallLabels),
        crossing: Crossing,
    ) {
        let link = Link {
            held,
            asked: lock(key, labels),
            crossing,
        };
        if let Verdict::Refused(ring) = graph.see(&link, &mut self.news) {
            self.refusal.get_or_insert((ring, key.clone()));
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

/// Returns the class of a lock: the text of its template around the values, its name, or else its key.
fn class<'a>(key: &'a LockKey, labels: &CallLabels) -> Class<'a> {
    let is_named = labels.function.is_empty() && is_name(labels.template, key);
    let of_the_program = if is_named {
        Some(labels.template)
    } else {
        key.template().map(KeyTemplate::outline)
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
