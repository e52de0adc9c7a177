//! Tries out a connection before it takes a lock.
//!
//! A user may run some of the commands that the scripts call, and not others; a service may refuse scripts, or keep
//! them from writing. Then a lock could be taken, by a plain command above all, and not be released. No list of
//! refusals is complete, since each service has its own words. So what counts is that a script has run to its end on
//! the connection, with every command that the scripts need.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, MutexGuard};

use super::encoder::Argument;
use super::redisson;
use super::scripts::{self, Script};
use super::sources;
use crate::background::sync;
use crate::key::{OneOrMore, RecordNames};
use crate::lease::Mode;

/// The commands that a connection must be able to run before it takes a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// For locks that one owner holds at a time.
    Exclusive,
    /// Also for locks that several owners share.
    Shares,
    /// For the node of a quorum.
    Quorum,
    /// For Redisson's record.
    Redisson,
}

/// The trials that a connection has passed. A script's refusal later on takes them back, unless it is known to say nothing
/// about permissions: they can change.
#[derive(Debug, Default)]
pub(super) struct Trials {
    passed: AtomicU8,
    /// The trials whose scripts have run to their end, by their source and by their digest.
    run: AtomicU8,
    running: Mutex<()>,
    postponed: sync::Mutex<Option<Instant>>,
}

/// How long nothing is tried after an answer that no script gives: whatever gives it would only be asked more.
const POSTPONED: Duration = Duration::from_secs(1);

/// How the script of a trial is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ways {
    /// With its source, and then by its digest, as the other scripts are called: a server may permit one and not the
    /// other.
    Both,
    /// By its digest. The server has run it in both ways, but all its records existed.
    Digest,
}

impl Ways {
    /// Returns for each command whether it has the source.
    pub(super) const fn by_source(self) -> &'static [bool] {
        match self {
            Ways::Both => &[true, false],
            Ways::Digest => &[false],
        }
    }
}

impl Trial {
    /// Returns the trial for locks of this mode, in the crate's own record on one server or a cluster.
    pub(super) fn of(mode: Mode) -> Trial {
        match mode {
            Mode::Exclusive => Trial::Exclusive,
            Mode::Write | Mode::Share(_) => Trial::Shares,
        }
    }

    /// Appends the script in these ways.
    pub(super) fn write(self, ways: Ways, output: &mut Vec<u8>, names: &OneOrMore<RecordNames>) {
        static NATIVE: LazyLock<Script> =
            LazyLock::new(|| Script::new(scripts::ALL, sources::TRIAL));
        let (script, locks): (&Script, _) = match self {
            Trial::Exclusive => (&NATIVE, "exclusive"),
            Trial::Shares => (&NATIVE, "shares"),
            Trial::Quorum => (&NATIVE, "quorum"),
            Trial::Redisson => (&redisson::SCRIPTS.trial, "redisson"),
        };
        for &by_source in ways.by_source() {
            script.write(output, by_source, names, &[Argument::Text(locks)]);
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Trial::Exclusive => 1,
            Trial::Shares => 2,
            Trial::Quorum => 4,
            Trial::Redisson => 8,
        }
    }

    /// Returns this trial and the ones that it contains.
    const fn bits(self) -> u8 {
        match self {
            Trial::Shares => self.bit() | Trial::Exclusive.bit(),
            Trial::Exclusive | Trial::Quorum | Trial::Redisson => self.bit(),
        }
    }
}

impl Trials {
    pub(super) fn have_passed(&self, trial: Trial) -> bool {
        self.passed.load(Ordering::Relaxed) & trial.bit() != 0
    }

    pub(super) fn note_passed(&self, trial: Trial) {
        self.passed.fetch_or(trial.bits(), Ordering::Relaxed);
    }

    /// Returns how the script of a trial must be sent.
    pub(super) fn ways(&self, trial: Trial) -> Ways {
        if self.run.load(Ordering::Relaxed) & trial.bit() == 0 {
            Ways::Both
        } else {
            Ways::Digest
        }
    }

    /// Notes that the script of a trial has run in all ways, whether or not it could try anything out.
    pub(super) fn note_run(&self, trial: Trial) {
        self.run.fetch_or(trial.bit(), Ordering::Relaxed);
    }

    /// Notes that the server has refused a script, for want of a permission as far as is known.
    pub(super) fn forget(&self) {
        self.passed.store(0, Ordering::Relaxed);
        self.run.store(0, Ordering::Relaxed);
    }

    /// Notes an answer that no script gives.
    pub(super) fn postpone(&self) {
        *self.postponed.lock() = Some(Instant::now() + POSTPONED);
    }

    pub(super) fn are_postponed(&self) -> bool {
        self.postponed
            .lock()
            .is_some_and(|until| Instant::now() < until)
    }

    /// Waits until no other caller tries the connection out.
    pub(super) async fn alone(&self) -> MutexGuard<'_, ()> {
        self.running.lock().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_for_shares_contains_the_trial_for_exclusive_locks() {
        let trials = Trials::default();
        trials.note_passed(Trial::Exclusive);
        assert!(trials.have_passed(Trial::Exclusive) && !trials.have_passed(Trial::Shares));
        trials.forget();
        assert!(!trials.have_passed(Trial::Exclusive));
        trials.note_passed(Trial::Shares);
        assert!(trials.have_passed(Trial::Exclusive) && trials.have_passed(Trial::Shares));
    }

    #[test]
    fn script_that_has_run_is_sent_without_its_source_until_one_is_refused() {
        let trials = Trials::default();
        trials.note_run(Trial::Redisson);
        assert_eq!(trials.ways(Trial::Redisson), Ways::Digest);
        assert_eq!(trials.ways(Trial::Exclusive), Ways::Both);
        trials.forget();
        assert_eq!(trials.ways(Trial::Redisson), Ways::Both);
    }
}
