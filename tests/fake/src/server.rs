//! The command of a client.

use crate::commands::{self, Command, Effect, wrong_count};
use crate::reply::{Reply, fail};
use crate::state::State;
use crate::value::Bytes;

pub(crate) const OUT_OF_MEMORY: &str = "OOM command not allowed when used memory > 'maxmemory'.";

/// Runs a command of a client. Its messages are appended to [`State::published`].
pub fn call(state: &mut State, words: &[Bytes]) -> Reply {
    match admitted(state, words) {
        Ok(command) => command.run(state, words),
        Err(refusal) => refusal,
    }
}

/// Checks the command, in the server's order.
fn admitted(state: &mut State, words: &[Bytes]) -> Result<&'static Command, Reply> {
    let name = words.first().map_or(&[][..], |name| name);
    let Some(command) = commands::named(name, state.deletion) else {
        return fail(unknown(words));
    };
    let lower = command.name.to_ascii_lowercase();
    if !command.admits(words.len()) {
        return fail(wrong_count(&lower));
    }
    if state.denied.contains(command.name) {
        return fail(format!(
            "NOPERM this user has no permissions to run the '{lower}' command"
        ));
    }
    if state.is_moving {
        check_slot(state, command.keys(words))?;
    }
    if state.is_full && command.effect == Effect::Grows {
        return fail(OUT_OF_MEMORY);
    }
    Ok(command)
}

/// The other node may have the keys that are missing, unless some are here.
fn check_slot(state: &mut State, keys: &[Bytes]) -> Result<(), Reply> {
    let missing = keys.iter().filter(|key| state.entry(key).is_none()).count();
    if missing == 0 {
        Ok(())
    } else if missing == keys.len() {
        fail("ASK 0 127.0.0.1:0")
    } else {
        fail("TRYAGAIN Multiple keys request during rehashing of slot")
    }
}

fn unknown(words: &[Bytes]) -> String {
    let mut words = words.iter().map(|word| String::from_utf8_lossy(word));
    let name = words.next().unwrap_or_default();
    let rest: String = words.map(|word| format!("'{word}' ")).collect();
    format!("ERR unknown command '{name}', with args beginning with: {rest}")
}
