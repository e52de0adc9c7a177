//! Safety lines that can be removed, so that a test can see what they prevent.
//!
//! `tests/control/run` compiles this crate once with `--cfg lock_controls`, and plays rows of the fault table with
//! `LOCK_CONTROL=NAME` for each line: a row must notice that it is missing. `tests/control/controls` lists the names. In
//! every other build [`is_removed!`] is the constant `false`, and the scripts are what their files have.

/// Whether the safety line of that name is removed.
///
/// A name that the workspace's lints do not list is an error. So is a build in which lines can be removed and that has no
/// debug assertions: it could be mistaken for a release.
macro_rules! is_removed {
    ($name:literal) => {{
        const _: bool = cfg!(lock_control = $name);
        $crate::control::is_selected($name)
    }};
}
pub(crate) use is_removed;

#[cfg(all(lock_controls, not(debug_assertions)))]
compile_error!("a build whose safety lines can be removed is for tests: it needs debug assertions");

/// Whether this process is to be without the safety line of that name.
#[cfg(lock_controls)]
pub(crate) fn is_selected(name: &str) -> bool {
    static SELECTED: std::sync::LazyLock<Option<String>> =
        std::sync::LazyLock::new(|| std::env::var("LOCK_CONTROL").ok());
    SELECTED.as_deref() == Some(name)
}

/// In other builds no line can be removed.
#[cfg(not(lock_controls))]
#[inline(always)]
pub(crate) const fn is_selected(_name: &str) -> bool {
    false
}

/// A script without the line that is removed. A line that can be removed ends in a comment with its name.
pub(crate) fn without_removed(script: &str) -> String {
    let is_kept = |line: &&str| match line.trim_end().rsplit_once(" -- control: ") {
        Some((_, name)) => !is_selected(name),
        None => true,
    };
    script.split_inclusive('\n').filter(is_kept).collect()
}
