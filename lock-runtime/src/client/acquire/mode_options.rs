//! The options of a call that decide how the lock is held.

use crate::error::LockError;
use crate::lease::{Mode, Share};

/// The options of a call that decide how the lock is held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ModeOptions {
    pub(super) access: Option<Access>,
    pub(super) permits: Option<u32>,
    pub(super) take: Option<u32>,
}

/// `mode = …`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl ModeOptions {
    /// The mode that the options ask for.
    pub(super) fn mode(self) -> Result<Mode, LockError> {
        match self {
            ModeOptions {
                access: Some(_),
                permits: Some(_),
                ..
            } => Err(LockError::invalid_options(
                "`mode` and `permits` exclude each other",
            )),
            ModeOptions {
                permits: None,
                take: Some(_),
                ..
            } => Err(LockError::invalid_options("`take` needs `permits`")),
            ModeOptions {
                permits: Some(limit),
                take,
                ..
            } => Share::permits(limit, take.unwrap_or(1))
                .map(Mode::Share)
                .map_err(LockError::invalid_options),
            ModeOptions { access, .. } => Ok(match access {
                None => Mode::Exclusive,
                Some(Access::Write) => Mode::Write,
                Some(Access::Read) => Mode::Share(Share::READ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(
        access: Option<Access>,
        permits: Option<u32>,
        take: Option<u32>,
    ) -> Result<Mode, String> {
        let options = ModeOptions {
            access,
            permits,
            take,
        };
        options.mode().map_err(|error| error.to_string())
    }

    #[test]
    fn call_without_options_is_exclusive() {
        assert_eq!(mode(None, None, None), Ok(Mode::Exclusive));
        assert_eq!(mode(Some(Access::Write), None, None), Ok(Mode::Write));
        assert_eq!(
            mode(Some(Access::Read), None, None),
            Ok(Mode::Share(Share::READ))
        );
    }

    #[test]
    fn one_permit_is_taken_by_default_and_one_is_a_limit() {
        let one_of_five = Share::permits(5, 1).map(Mode::Share);
        assert_eq!(mode(None, Some(5), None), one_of_five);
        assert!(
            mode(None, Some(1), None).is_ok(),
            "a limit may come from a configuration"
        );
    }

    #[test]
    fn options_that_contradict_each_other_are_refused_in_words() {
        let refused = |access, permits, take, words: &str| {
            let error = mode(access, permits, take).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        let both = "`mode` and `permits` exclude each other";
        refused(Some(Access::Read), Some(5), None, both);
        refused(Some(Access::Write), Some(5), Some(1), both);
        refused(None, None, Some(2), "`take` needs `permits`");
        refused(None, Some(0), None, "`permits` must be at least 1");
        refused(None, Some(5), Some(6), "6 of 5 permits can never be had");
    }
}
