//! The two forms of a run: `./tests/run`, and `./tests/run --long`.

use std::env;

/// How many repetitions a run plays.
///
/// Tests that belong only to the long form are in a module `long`, which the short form filters out
/// by that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Each promise once.
    Short,
    /// Ten rounds of each fault row, and longer random sequences.
    Long,
}

impl Form {
    /// The requested form: `tests/run --long` sets `LOCK_TEST_LONG=1`.
    pub fn of_this_run() -> Self {
        match env::var("LOCK_TEST_LONG") {
            Err(env::VarError::NotPresent) => Self::Short,
            Ok(value) if value == "1" => Self::Long,
            other => panic!("LOCK_TEST_LONG is 1 or not set, not {other:?}"),
        }
    }

    /// The value for this form.
    pub fn pick<T>(self, short: T, long: T) -> T {
        match self {
            Self::Short => short,
            Self::Long => long,
        }
    }
}
