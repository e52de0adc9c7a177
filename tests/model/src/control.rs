//! Safety lines of the runtime that a search can remove, as in its `control`.

use std::cell::Cell;

/// Whether the line of that name is removed.
macro_rules! is_removed {
    ($name:ident) => {
        $crate::control::SafetyLine::$name.is_removed()
    };
}
pub(crate) use is_removed;

macro_rules! safety_lines {
    ($($name:ident),+) => {
        /// A line of the runtime without which a lock is not safe.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(non_camel_case_types, reason = "as the runtime has them")]
        pub(crate) enum SafetyLine {
            $($name,)+
        }

        /// The names of the safety lines in the files that the model shares with the runtime.
        pub const SAFETY_LINES: &[&str] = &[$(stringify!($name)),+];

        impl SafetyLine {
            /// The name, as the runtime declares it.
            pub(crate) fn name(self) -> &'static str {
                SAFETY_LINES[self as usize]
            }
        }
    };
}

safety_lines! {
    confirmation_of_a_grant,
    more_than_half,
    same_owner_for_each_attempt,
    token_of_a_lost_yield,
    token_written_back,
    ttl_of_the_successor,
    vote_under_a_yield
}

thread_local! {
    static REMOVED: Cell<Option<SafetyLine>> = const { Cell::new(None) };
}

impl SafetyLine {
    /// Whether the present thread is to be without the line.
    pub(crate) fn is_removed(self) -> bool {
        REMOVED.get() == Some(self)
    }
}

/// Puts the line that the present thread is without back when this is dropped.
pub(crate) struct Removed(());

impl Removed {
    pub(crate) fn new(line: Option<SafetyLine>) -> Removed {
        REMOVED.set(line);
        Removed(())
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        REMOVED.set(None);
    }
}
