//! How a worker's calls hold their locks.

use std::time::Duration;

use crate::shares::{READ, Share};

/// How a worker's calls hold their locks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Mode {
    /// As without a mode.
    #[default]
    Plain,
    /// As a writer.
    Write,
    /// For at least so long, even if the body ends before.
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

    /// What is taken of the lock beside others; none if it is held alone.
    pub(crate) fn share(self) -> Option<Share> {
        match self {
            Self::Plain | Self::Write | Self::AtLeast(_) => None,
            Self::Share(share) => Some(share),
        }
    }
}
