//! The holders of a lock over time: the records of every body, and the figures derived from them.

use crate::stats::{float, jain, rate};
use std::time::Duration;

/// One body under the lock. Times are those of the [clock](crate::clock) that all processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    /// The task of the body.
    pub(crate) task: u32,
    /// Its fencing token; 0 if the lock has none.
    pub(crate) token: u64,
    /// When the caller asked for the lock.
    pub(crate) asked: u64,
    /// When the body began.
    pub(crate) entered: u64,
    /// When the body had ended, before the release.
    pub(crate) left: u64,
}

/// The time of a race. It is measured from `start` on, when all callers are waiting.
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
    /// The times at which the callers asked that still wait at the end.
    waiting: Vec<u64>,
}

impl Log {
    pub(crate) fn new(
        window: Window,
        tasks: u32,
        mut visits: Vec<Visit>,
        waiting: Vec<u64>,
    ) -> Log {
        visits.sort_unstable_by_key(|visit| (visit.entered, visit.left));
        Log {
            window,
            tasks,
            visits,
            waiting,
        }
    }

    /// The number of times the lock went from one task to another.
    pub(crate) fn transfers(&self) -> usize {
        transfers(&self.visits)
    }

    /// Transfers per second of the measured time.
    pub(crate) fn rate(&self) -> f64 {
        rate(transfers(self.measured()), self.time())
    }

    /// The same for a part of the race.
    pub(crate) fn rate_between(&self, from: u64, to: u64) -> f64 {
        let time = Duration::from_nanos(to - from);
        rate(transfers(self.entered_between(from, to)), time)
    }

    /// The longest time between two bodies that began in a part of the race, or between one of them and its end.
    pub(crate) fn longest_gap(&self, from: u64, to: u64) -> Duration {
        let visits = self.entered_between(from, to).iter();
        let moments: Vec<u64> = [from]
            .into_iter()
            .chain(visits.map(|visit| visit.entered))
            .chain([to])
            .collect();
        let gaps = moments.windows(2).map(|pair| pair[1] - pair[0]);
        Duration::from_nanos(gaps.max().unwrap_or(0))
    }

    /// The fairness between tasks, in groups of this many.
    pub(crate) fn fairness(&self, group: u32) -> f64 {
        let mut shares = vec![0; self.tasks.div_ceil(group) as usize];
        for visit in self.measured() {
            shares[(visit.task / group) as usize] += 1;
        }
        jain(&shares)
    }

    /// The longest wait, as a multiple of the wait in a fair rotation: the number of tasks times the
    /// mean time of a transfer.
    pub(crate) fn longest_wait(&self) -> f64 {
        let served = self
            .measured()
            .iter()
            .map(|visit| (visit.asked, visit.entered));
        let unserved = self.waiting.iter().map(|&asked| (asked, self.window.end));
        // A wait that began before the measured time counts only from its beginning.
        let wait = |(asked, until): (u64, u64)| until.saturating_sub(asked.max(self.window.start));
        let longest = served.chain(unserved).map(wait).max().unwrap_or(0);
        let circle = f64::from(self.tasks) / self.rate();
        Duration::from_nanos(longest).as_secs_f64() / circle
    }

    /// The number of bodies that began before the last one had ended.
    pub(crate) fn overlaps(&self) -> usize {
        let pairs = self.visits.windows(2);
        pairs.filter(|pair| pair[1].entered < pair[0].left).count()
    }

    /// The number of tokens that were not higher than the last one.
    pub(crate) fn stale_tokens(&self) -> usize {
        let pairs = self.visits.windows(2);
        pairs.filter(|pair| pair[1].token <= pair[0].token).count()
    }

    fn measured(&self) -> &[Visit] {
        self.entered_between(self.window.start, self.window.end)
    }

    fn entered_between(&self, from: u64, to: u64) -> &[Visit] {
        let before = |moment| self.visits.partition_point(|visit| visit.entered < moment);
        &self.visits[before(from)..before(to)]
    }

    fn time(&self) -> Duration {
        Duration::from_nanos(self.window.end - self.window.start)
    }
}

fn transfers(visits: &[Visit]) -> usize {
    let pairs = visits.windows(2);
    pairs.filter(|pair| pair[0].task != pair[1].task).count()
}

/// The part of a process in a race, for another process: a line for each visit, and for each waiting
/// task.
pub(crate) fn write(visits: &[Visit], waiting: &[u64]) -> String {
    let visits = visits.iter().map(|visit| {
        let Visit {
            task,
            token,
            asked,
            entered,
            left,
        } = visit;
        format!("{task} {token} {asked} {entered} {left}\n")
    });
    let waiting = waiting.iter().map(|asked| format!("{asked}\n"));
    visits.chain(waiting).collect()
}

/// # Panics
///
/// When it is not the output of [`write()`].
pub(crate) fn read(text: &str) -> (Vec<Visit>, Vec<u64>) {
    let (mut visits, mut waiting) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let numbers: Result<Vec<u64>, _> = line.split(' ').map(str::parse).collect();
        match numbers.expect("a line is numbers")[..] {
            [task, token, asked, entered, left] => visits.push(Visit {
                task: u32::try_from(task).expect("there are not so many tasks"),
                token,
                asked,
                entered,
                left,
            }),
            [asked] => waiting.push(asked),
            _ => panic!("no line of a log: {line}"),
        }
    }
    (visits, waiting)
}

/// Commands per transfer.
pub(crate) fn commands_each(commands: u64, transfers: usize) -> f64 {
    let commands = usize::try_from(commands).expect("it fits");
    float(commands) / float(transfers.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window {
        begin: 0,
        start: 100,
        end: 1_000_000_100,
    };

    /// Bodies of 5 ns that begin at these times, each requested 10 ns before.
    fn log(tasks: u32, visits: &[(u32, u64)]) -> Log {
        let visits = visits
            .iter()
            .zip(1..)
            .map(|(&(task, entered), token)| Visit {
                task,
                token,
                asked: entered.saturating_sub(10),
                entered,
                left: entered + 5,
            });
        Log::new(WINDOW, tasks, visits.collect(), Vec::new())
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-6 * other.abs().max(1.0)
    }

    #[test]
    fn a_transfer_is_a_change_of_the_holder_and_not_an_acquisition() {
        let log = log(
            3,
            &[(0, 200), (0, 210), (1, 220), (1, 230), (2, 240), (0, 250)],
        );
        assert_eq!(log.transfers(), 3);
        assert!(close(log.rate(), 3.0), "{}", log.rate());
    }

    #[test]
    fn visits_before_and_after_the_measured_time_do_not_count() {
        let visits = [
            (0, 50),
            (1, 60),
            (0, 200),
            (1, 210),
            (0, WINDOW.end),
            (1, WINDOW.end + 10),
        ];
        let log = log(2, &visits);
        assert_eq!(log.transfers(), 5);
        assert!(close(log.rate(), 1.0), "{}", log.rate());
    }

    #[test]
    fn parts_of_a_race_have_their_own_rates_and_gaps() {
        let second = 1_000_000_000;
        let log = log(2, &[(0, 100), (1, 400), (0, 500), (1, 900 + second)]);
        assert!(close(log.rate_between(0, second), 2.0));
        assert!(close(log.rate_between(second, 2 * second), 0.0));
        assert_eq!(log.longest_gap(0, 600), Duration::from_nanos(300));
        assert_eq!(
            log.longest_gap(500, second),
            Duration::from_nanos(second - 500)
        );
    }

    #[test]
    fn fairness_is_of_tasks_or_of_groups_of_them() {
        // Tasks 0 and 1 are one process, 2 and 3 another.
        let log = log(4, &[(0, 200), (0, 210), (2, 220), (3, 230)]);
        assert!(close(log.fairness(1), 16.0 / (4.0 * 6.0)));
        assert!(close(log.fairness(2), 1.0));
    }

    #[test]
    fn the_longest_wait_is_told_in_rounds_of_all_tasks() {
        let mut log = log(2, &[(0, 200), (1, 210), (0, 220)]);
        // Two transfers per second: a round of two tasks takes one second.
        log.visits[2].asked = 0;
        log.visits[2].entered = 500_000_100;
        assert!(close(log.longest_wait(), 0.5), "{}", log.longest_wait());
        // A task that is never served waits as well.
        log.waiting.push(250_000_100);
        assert!(close(log.longest_wait(), 0.75), "{}", log.longest_wait());
    }

    #[test]
    fn bodies_that_overlap_are_found_wherever_they_were_written_down() {
        let apart = log(2, &[(0, 200), (1, 205)]);
        assert_eq!(apart.overlaps(), 0);
        let over = log(2, &[(1, 220), (0, 200), (1, 204)]);
        assert_eq!(over.overlaps(), 1);
    }

    #[test]
    fn tokens_that_stay_or_fall_are_stale() {
        let mut log = log(2, &[(0, 200), (1, 210), (0, 220)]);
        assert_eq!(log.stale_tokens(), 0);
        log.visits[1].token = 1;
        log.visits[2].token = 1;
        assert_eq!(log.stale_tokens(), 2);
    }

    #[test]
    fn log_is_read_as_it_was_written() {
        let visits = log(2, &[(0, 200), (1, 210)]).visits;
        let told = write(&visits, &[7, 8]);
        assert_eq!(read(&told), (visits, vec![7, 8]));
    }
}
