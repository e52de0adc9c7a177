//! The mode in which a worker's calls hold their locks.

use std::time::Duration;

use crate::shares::{READ, Share};

/// The mode in which a worker's calls hold their locks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Mode {
    /// As without a mode.
    #[default]
    Plain,
    /// As a writer.
    Write,
    /// With this minimum hold, even if the body ends earlier.
    AtLeast(Duration),
    /// As a reader, or with permits.
    Share(Share),
}

impl Mode {
    /// Reads `plain`, `write`, `at-least MS`, `read`, `permits N` or `permits N take M`.
    pub(crate) fn parse(words: &[&str]) -> Self {
        let number = |text: &str| text.parse::<u32>().expect("it is a number");
        match words {
            ["plain"] => Self::Plain,
            ["write"] => Self::Write,
            ["at-least", ms] => Self::AtLeast(Duration::from_millis(number(ms).into())),
            ["read"] => Self::Share(READ),
            ["permits", limit] => Self::Share(Share::permits(1, number(limit))),
            ["permits", limit, "take", take] => {
                Self::Share(Share::permits(number(take), number(limit)))
            }
            _ => panic!("no such mode: {words:?}"),
        }
    }

    /// How much of the lock is taken; none if it is held exclusively.
    pub(crate) fn share(self) -> Option<Share> {
        match self {
            Self::Plain | Self::Write | Self::AtLeast(_) => None,
            Self::Share(share) => Some(share),
        }
    }
}
