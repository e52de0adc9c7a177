//! Safety lines that can be removed, so that a test can see what they prevent.
//!
//! `tests/control/run` compiles this crate once with `--cfg lock_controls`, and plays rows of the fault table with
//! `LOCK_CONTROL=NAME`: a row must notice that the line is missing. For a file that `tests/model` shares, the model
//! must notice; it has a `control` of its own. `control/lines.rs` declares the lines. The tests include it too, to know
//! the tests that must notice (`harness/rounds/control.rs`, `model/tests/explorations/controls.rs`). In every other
//! build, [`is_removed!`] is the constant `false`, and the scripts keep all of their lines.
//!
//! # Invariants
//!
//! - A row of the fault table, or the model, notices each safety line that is missing.

/// Returns whether the safety line of that name is removed.
///
/// Only a declared name compiles. A build with removable lines but without debug assertions does not compile, since it
/// could be mistaken for a release.
macro_rules! is_removed {
    ($name:ident) => {
        $crate::control::SafetyLine::$name.is_removed()
    };
}
pub(crate) use is_removed;

#[cfg(all(lock_controls, not(debug_assertions)))]
compile_error!("a build whose safety lines can be removed is for tests: it needs debug assertions");

macro_rules! safety_lines {
    ($(
        $name:ident: $missing:literal, $([$($row:ident),+])? $(model $configuration:literal)?, $violation:literal;
    )+) => {
        /// A line of code without which a lock is not safe.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(non_camel_case_types, reason = "the environment and the scripts use these names")]
        #[cfg_attr(not(lock_controls), allow(dead_code, reason = "some are used only in scripts"))]
        pub(crate) enum SafetyLine {
            $(#[doc = $missing] $name,)+
        }

        #[cfg(lock_controls)]
        const ALL: &[(&str, SafetyLine)] = &[$((stringify!($name), SafetyLine::$name)),+];
    };
}

include!("control/lines.rs");

#[cfg(lock_controls)]
impl SafetyLine {
    /// Returns whether this process runs without the line.
    pub(crate) fn is_removed(self) -> bool {
        static REMOVED: std::sync::LazyLock<Option<SafetyLine>> = std::sync::LazyLock::new(|| {
            let name = std::env::var("LOCK_CONTROL").ok();
            name.map(|name| SafetyLine::named(&name))
        });
        *REMOVED == Some(self)
    }

    fn named(name: &str) -> Self {
        let mut all = ALL.iter();
        let found = all.find(|(of, _)| *of == name);
        found
            .unwrap_or_else(|| panic!("no safety line has the name {name}"))
            .1
    }
}

#[cfg(not(lock_controls))]
impl SafetyLine {
    /// Returns `false`: this build keeps all lines.
    #[inline(always)]
    pub(crate) const fn is_removed(self) -> bool {
        false
    }
}

/// Returns the script without the removed line. A line that can be removed ends in a comment with its name.
#[cfg(lock_controls)]
pub(crate) fn without_removed(script: &str) -> String {
    let is_kept = |line: &&str| match line.trim_end().rsplit_once(" -- control: ") {
        Some((_, name)) => !SafetyLine::named(name).is_removed(),
        None => true,
    };
    script.split_inclusive('\n').filter(is_kept).collect()
}

/// Returns the script as it is.
#[cfg(not(lock_controls))]
pub(crate) fn without_removed(script: &str) -> String {
    script.to_owned()
}
