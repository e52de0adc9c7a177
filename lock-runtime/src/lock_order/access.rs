//! How a call holds a lock, and whom it waits for.

use crate::lease::Mode;

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hold {
    /// Together with others, by a reader or with permits.
    Shared,
    Alone,
}

impl Hold {
    pub(crate) fn of(mode: Mode) -> Hold {
        match mode {
            Mode::Exclusive | Mode::Write => Hold::Alone,
            Mode::Share(_) => Hold::Shared,
        }
    }
}

/// Which holders a call for a lock waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// A reader waits for an exclusive holder.
    ForWriter,
    /// A writer waits for every holder. So does a caller that wants permits: others may hold the remaining ones.
    ForAll,
}

impl Wait {
    pub(crate) fn of(mode: Mode) -> Wait {
        match mode {
            Mode::Exclusive | Mode::Write => Wait::ForAll,
            Mode::Share(share) if share.limit().is_some() => Wait::ForAll,
            Mode::Share(_) => Wait::ForWriter,
        }
    }

    /// Returns whether such a holder makes this call wait.
    pub(super) fn is_blocked_by(self, hold: Hold) -> bool {
        self == Wait::ForAll || hold == Hold::Alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::Share;

    #[test]
    fn only_readers_pass_holders_that_share() {
        let read = Mode::Share(Share::READ);
        let permits = Mode::Share(Share::permits(5, 1).unwrap());
        for (held, asked, blocks) in [
            (read, read, false),
            (permits, read, false),
            (Mode::Write, read, true),
            (Mode::Exclusive, read, true),
            (read, permits, true),
            (permits, permits, true),
            (read, Mode::Write, true),
            (permits, Mode::Exclusive, true),
            (Mode::Exclusive, Mode::Exclusive, true),
        ] {
            let is_blocked = Wait::of(asked).is_blocked_by(Hold::of(held));
            assert_eq!(is_blocked, blocks, "{asked:?} behind {held:?}");
        }
    }
}
