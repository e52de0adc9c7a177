//! The holders of a lock over time: the records of every body, and the figures derived from them.

use std::time::Duration;

use crate::stats::{float, rate};

/// One body under the lock. Times are readings of the [clock](crate::clock) that all processes
/// share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    /// The task of the body.
    pub(crate) task: u32,
    /// Its fencing token; 0 if the lock has none.
    pub(crate) token: u64,
    /// When the body began.
    pub(crate) entered: u64,
    /// When the body ended, before the release.
    pub(crate) left: u64,
}

/// The time of a race. The measurement begins at `start`, when all callers are waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) begin: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The bodies of a race, in order.
#[derive(Debug)]
pub(crate) struct Log {
    window: Window,
    tasks: u32,
    visits: Vec<Visit>,
}

impl Log {
    pub(crate) fn new(window: Window, tasks: u32, mut visits: Vec<Visit>) -> Log {
        visits.sort_unstable_by_key(|visit| (visit.entered, visit.left));
        Log {
            window,
            tasks,
            visits,
        }
    }

    /// The number of times the lock went from one task to another.
    pub(crate) fn transfers(&self) -> usize {
        transfers(&self.visits)
    }

    /// Transfers per second of the measured time.
    pub(crate) fn rate(&self) -> f64 {
        self.rate_between(self.window.start, self.window.end)
    }

    /// The same for a part of the race.
    pub(crate) fn rate_between(&self, from: u64, to: u64) -> f64 {
        let time = Duration::from_nanos(to - from);
        rate(transfers(self.entered_between(from, to)), time)
    }

    /// The longest time between two bodies that began in a part of the race, or between a body and
    /// the end of that part.
    pub(crate) fn longest_gap(&self, from: u64, to: u64) -> Duration {
        let visits = self.entered_between(from, to).iter();
        let mut moments = vec![from];
        moments.extend(visits.map(|visit| visit.entered).chain([to]));
        let gaps = moments.windows(2).map(|pair| pair[1] - pair[0]);
        Duration::from_nanos(gaps.max().unwrap_or(0))
    }

    /// Jain's index of fairness between tasks: 1 if all have equal shares, 1/n if one of n has everything.
    pub(crate) fn fairness(&self) -> f64 {
        let mut shares = vec![0; self.tasks as usize];
        for visit in self.entered_between(self.window.start, self.window.end) {
            shares[visit.task as usize] += 1;
        }
        let sum: f64 = shares.iter().copied().map(float).sum();
        let squares: f64 = shares.iter().map(|&share| float(share).powi(2)).sum();
        sum.powi(2) / (float(shares.len()) * squares)
    }

    /// The number of bodies and tokens that exclusion forbids: bodies that began before the
    /// previous one had ended, and tokens that were not higher than the previous one.
    pub(crate) fn violations(&self) -> usize {
        let pairs = self.visits.windows(2);
        let of = |pair: &[Visit]| {
            usize::from(pair[1].entered < pair[0].left)
                + usize::from(pair[1].token <= pair[0].token)
        };
        pairs.map(of).sum()
    }

    fn entered_between(&self, from: u64, to: u64) -> &[Visit] {
        let before = |moment| self.visits.partition_point(|visit| visit.entered < moment);
        &self.visits[before(from)..before(to)]
    }
}

fn transfers(visits: &[Visit]) -> usize {
    let pairs = visits.windows(2);
    pairs.filter(|pair| pair[0].task != pair[1].task).count()
}

/// Serialises the visits for another process, in one line.
pub(crate) fn write(visits: &[Visit]) -> String {
    let told = |visit: &Visit| {
        let Visit {
            task,
            token,
            entered,
            left,
        } = visit;
        format!("{task} {token} {entered} {left};")
    };
    visits.iter().map(told).collect()
}

pub(crate) fn read(text: &str) -> Vec<Visit> {
    let visit = |visit: &str| {
        let numbers = visit.split(' ').map(|word| word.parse().expect("a number"));
        let numbers: Vec<u64> = numbers.collect();
        Visit {
            task: u32::try_from(numbers[0]).expect("there are not so many tasks"),
            token: numbers[1],
            entered: numbers[2],
            left: numbers[3],
        }
    };
    text.split_terminator(';').map(visit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Bodies of 5 ns that begin at these times, in two seconds the second of which is measured.
    fn log(tasks: u32, visits: &[(u32, u64)]) -> Log {
        let window = Window {
            begin: 0,
            start: SECOND,
            end: 2 * SECOND,
        };
        let visit = |(&(task, entered), token)| Visit {
            task,
            token,
            entered,
            left: entered + 5,
        };
        Log::new(window, tasks, visits.iter().zip(1..).map(visit).collect())
    }

    #[test]
    fn transfer_is_a_change_of_the_holder_and_counts_at_its_time() {
        let visits = [0, 0, 1, 1, 2, 0].into_iter().zip((SECOND..).step_by(10));
        let visits: Vec<_> = [(1, 50)].into_iter().chain(visits).collect();
        let log = log(3, &visits);
        assert_eq!(log.transfers(), 4);
        assert_eq!(log.rate().to_string(), "3");
        assert_eq!(log.rate_between(0, SECOND).to_string(), "0");
        assert_eq!(
            log.longest_gap(0, SECOND + 1),
            Duration::from_nanos(SECOND - 50)
        );
    }

    #[test]
    fn fairness_counts_tasks_in_the_measured_time() {
        let fairness = |visits: &[(u32, u64)]| log(2, visits).fairness().to_string();
        assert_eq!(fairness(&[(0, 1), (0, SECOND), (1, SECOND + 10)]), "1");
        assert_eq!(fairness(&[(1, 1), (0, SECOND), (0, SECOND + 10)]), "0.5");
    }

    #[test]
    fn bodies_that_overlap_and_tokens_that_do_not_rise_are_violations() {
        let mut log = log(2, &[(0, 200), (1, 205), (0, 210)]);
        assert_eq!(log.violations(), 0);
        log.visits[1].token = 3;
        assert_eq!(log.violations(), 1);
        log.visits[1].entered = 204;
        assert_eq!(log.violations(), 2);
    }

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let visits = log(2, &[(0, 200), (1, 210)]).visits;
        assert_eq!(read(&write(&visits)), visits);
    }
}
