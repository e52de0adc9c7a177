//! Which lines of the scripts have run, in all threads of this process.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use mlua::{HookTriggers, Lua, VmState};

use crate::bytecode;
use crate::interpreter::{self, digest_of};

/// The name under which Lua knows each script, as servers have it.
pub(crate) const CHUNK: &str = "@user_script";

static IS_ON: AtomicBool = AtomicBool::new(false);
/// The lines that have run, by the digest of their script.
static LINES: Mutex<BTreeMap<String, BTreeSet<usize>>> = Mutex::new(BTreeMap::new());

/// Notes the lines that scripts run from now on. This makes scripts slower.
pub fn start() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Returns the lines of this script that have code and have not run since [`start`], with their numbers, which begin with 1.
///
/// # Panics
///
/// If the script does not compile.
pub fn lines_not_run(source: &str) -> Vec<(usize, &str)> {
    let all = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let run = all.get(&digest_of(source.as_bytes()));
    let has_run = |number: &usize| run.is_some_and(|run| run.contains(number));
    let mut missing = bytecode::lines(&interpreter::bytecode(source.as_bytes()));
    missing.retain(|number| !has_run(number));
    let lines = (1..).zip(source.lines());
    lines
        .filter(|(number, _)| missing.contains(number))
        .collect()
}

/// Runs a script, and notes its lines if [`start`] was called.
pub(crate) fn noting<T>(
    lua: &Lua,
    digest: &str,
    script: impl FnOnce() -> mlua::Result<T>,
) -> mlua::Result<T> {
    if !IS_ON.load(Ordering::Relaxed) {
        return script();
    }
    let lines = Rc::<RefCell<BTreeSet<usize>>>::default();
    let noted = Rc::clone(&lines);
    lua.set_hook(HookTriggers::EVERY_LINE, move |_, debug| {
        // The sandbox runs lines, too.
        if debug.source().source.as_deref() == Some(CHUNK) {
            noted.borrow_mut().extend(debug.current_line());
        }
        Ok(VmState::Continue)
    })?;
    let outcome = script();
    lua.remove_hook();
    let mut all = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(digest.to_owned())
        .or_default()
        .extend(lines.take());
    outcome
}
