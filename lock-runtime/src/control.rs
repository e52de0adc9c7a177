//! Safety lines that can be removed, one per build, so that a test can see what they prevent.
//!
//! `tests/control/run` compiles this crate with `--cfg lock_control="NAME"` and demands that a row of the
//! fault table notices the missing line. `tests/control/controls` lists the names. In every other build
//! [`is_removed!`] is the constant `false`, and the scripts are what their files have.

/// Whether this build lacks the safety line of that name.
///
/// A name that the workspace's lints do not list is an error. So is a build that lacks a line and has no debug
/// assertions: it could be mistaken for a release.
macro_rules! is_removed {
    ($name:literal) => {{
        #[cfg(all(lock_control = $name, not(debug_assertions)))]
        compile_error!("a build without a safety line is for tests: it needs debug assertions");
        cfg!(lock_control = $name)
    }};
}
pub(crate) use is_removed;

/// A script without the line that this build lacks.
pub(crate) fn without_removed(script: &str) -> String {
    let lines = script.split_inclusive('\n');
    lines.filter(|line| !is_line_removed(line)).collect()
}

/// A line of a script that can be removed ends in a comment with its name.
fn is_line_removed(line: &str) -> bool {
    match line.trim_end().rsplit_once(" -- control: ") {
        Some((_, "lapsed_shares_taken_off")) => is_removed!("lapsed_shares_taken_off"),
        Some((_, "owner_compare_on_end")) => is_removed!("owner_compare_on_end"),
        Some((_, "owner_compare_on_keys")) => is_removed!("owner_compare_on_keys"),
        Some((_, "owner_compare_on_release")) => is_removed!("owner_compare_on_release"),
        Some((_, "owner_compare_on_renewal")) => is_removed!("owner_compare_on_renewal"),
        Some((_, "redisson_owner_compare_on_release")) => {
            is_removed!("redisson_owner_compare_on_release")
        }
        Some((_, "redisson_owner_compare_on_renewal")) => {
            is_removed!("redisson_owner_compare_on_renewal")
        }
        Some((_, "share_limit_compared")) => is_removed!("share_limit_compared"),
        Some((_, "share_owner_compared")) => is_removed!("share_owner_compared"),
        Some((_, "share_raises_the_lock")) => is_removed!("share_raises_the_lock"),
        _ => false,
    }
}
