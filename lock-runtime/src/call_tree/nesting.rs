//! Decides whether a call may enter a lock that its call tree already holds, and which siblings exclude it.

use crate::lease::{Mode, Share};

/// The total room for the calls below a frame that holds its lock alone. A call that excludes all others takes all of
/// it. On 32-bit machines a semaphore has no more room than this.
const ALL: u32 = 1 << 28;

/// Returns how much the calls directly below a frame in this mode may take together; `None` if they never wait for each
/// other.
pub(super) fn room_below(held: Mode) -> Option<u32> {
    match held {
        Mode::Exclusive | Mode::Write => Some(ALL),
        Mode::Share(share) => share.limit().map(|_| share.take().min(ALL)),
    }
}

/// Returns how much a call takes below a frame in the mode `held`. `Err` explains why it may not enter.
///
/// A call never waits for its own tree to hold more: two readers that both wait to write would deadlock.
pub(super) fn needed_below(held: Mode, asked: Mode) -> Result<u32, String> {
    match (held, asked) {
        (Mode::Exclusive | Mode::Write, Mode::Exclusive | Mode::Write) => Ok(ALL),
        (Mode::Exclusive | Mode::Write, Mode::Share(share)) => Ok(part_of_all(share)),
        (Mode::Share(held), Mode::Share(asked)) if is_within(asked, held) => {
            Ok(asked.take().min(ALL))
        }
        (Mode::Share(held), asked) => Err(format!(
            "{}, which cannot become {}",
            match held.limit() {
                None => "for reading".to_owned(),
                Some(_) => format!("with {}", permits(held)),
            },
            match asked.share() {
                None => "writing".to_owned(),
                Some(asked) if asked.limit().is_none() => "reading".to_owned(),
                Some(asked) => permits(asked),
            }
        )),
    }
}

/// Returns whether a share is part of another share: a read within a read, or permits within as many or more.
fn is_within(asked: Share, held: Share) -> bool {
    match (asked.limit(), held.limit()) {
        (None, None) => true,
        (Some(_), Some(_)) => asked.take() <= held.take(),
        _ => false,
    }
}

/// Returns how much a share takes below a lock that is held alone, so that its siblings keep to its limit. Exact for
/// limits below 2¹⁴; a call tree has fewer siblings than that.
fn part_of_all(share: Share) -> u32 {
    match share.limit() {
        None => 1,
        Some(limit) => {
            let part = u64::from(ALL) * u64::from(share.take()) / u64::from(limit);
            u32::try_from(part).unwrap_or(ALL).max(1)
        }
    }
}

fn permits(share: Share) -> String {
    match share.take() {
        1 => "1 permit".to_owned(),
        take => format!("{take} permits"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Mode = Mode::Share(Share::READ);

    fn permits(limit: u32, take: u32) -> Mode {
        Mode::Share(Share::permits(limit, take).unwrap())
    }

    #[test]
    fn exclusive_lock_admits_every_mode() {
        for held in [Mode::Exclusive, Mode::Write] {
            for asked in [Mode::Exclusive, Mode::Write, READ, permits(5, 3)] {
                assert!(needed_below(held, asked).is_ok(), "{held:?} {asked:?}");
            }
        }
    }

    #[test]
    fn reading_admits_only_reading_and_the_error_explains_it() {
        assert!(needed_below(READ, READ).is_ok());
        assert_eq!(room_below(READ), None, "readers do not wait for each other");
        let refused = |asked| needed_below(READ, asked).unwrap_err();
        let writing = "for reading, which cannot become writing";
        assert_eq!(refused(Mode::Exclusive), writing);
        assert_eq!(refused(Mode::Write), writing);
        assert_eq!(
            refused(permits(5, 2)),
            "for reading, which cannot become 2 permits"
        );
    }

    #[test]
    fn permits_admit_at_most_as_many_permits() {
        let held = permits(5, 2);
        assert_eq!(room_below(held), Some(2));
        assert_eq!(needed_below(held, permits(5, 1)), Ok(1));
        assert_eq!(needed_below(held, permits(9, 2)), Ok(2));
        let refused = |asked| needed_below(held, asked).unwrap_err();
        assert_eq!(
            refused(permits(5, 3)),
            "with 2 permits, which cannot become 3 permits"
        );
        assert_eq!(refused(READ), "with 2 permits, which cannot become reading");
        assert_eq!(
            refused(Mode::Exclusive),
            "with 2 permits, which cannot become writing"
        );
    }

    #[test]
    fn siblings_keep_to_the_limits_that_they_ask_for() {
        let room = room_below(Mode::Exclusive).unwrap();
        let beside_each_other = |asked| room / needed_below(Mode::Exclusive, asked).unwrap();
        assert_eq!(beside_each_other(Mode::Write), 1);
        for (limit, take) in [(1, 1), (2, 1), (3, 1), (5, 2), (7, 7), (1000, 3)] {
            let beside = beside_each_other(permits(limit, take));
            assert_eq!(beside, limit / take, "{take} of {limit}");
        }
        assert_eq!(beside_each_other(permits(u32::MAX, u32::MAX)), 1);
        assert!(beside_each_other(READ) > 1_000_000);
    }
}
