//! A run of a script, as its commands see it.

use crate::commands::{self, Command, Effect};
use crate::reply::{Reply, fail};
use crate::server::OUT_OF_MEMORY;
use crate::state::State;
use crate::value::Bytes;

/// The state while a script runs, which has it alone.
#[derive(Debug, Default)]
pub(crate) struct ScriptRun {
    pub(crate) state: State,
    has_written: bool,
}

impl ScriptRun {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state,
            has_written: false,
        }
    }

    /// `redis.call` with these words.
    pub(crate) fn call(&mut self, words: &[Bytes]) -> Reply {
        match self.admitted(words) {
            Ok(command) => command.run(&mut self.state, words),
            Err(refusal) => refusal,
        }
    }

    /// Checks the command, in the server's order.
    fn admitted(&mut self, words: &[Bytes]) -> Result<&'static Command, Reply> {
        let Some(name) = words.first() else {
            return fail("ERR Please specify at least one argument for this redis lib call");
        };
        let Some(command) = commands::named(name, self.state.deletion) else {
            return fail("ERR Unknown Redis command called from script");
        };
        if !command.admits(words.len()) {
            return fail("ERR Wrong number of args calling Redis command from script");
        }
        if !command.is_for_scripts {
            return fail("ERR This Redis command is not allowed from script");
        }
        if self.state.denied.contains(command.name) {
            return fail("ERR The user executing the script can't run this command or subcommand");
        }
        // A script is refused at its first write or goes through, since what it has written stays.
        if self.state.is_full && command.effect == Effect::Grows && !self.has_written {
            return fail(OUT_OF_MEMORY);
        }
        self.has_written |= command.effect != Effect::Reads;
        let keys = command.keys(words);
        if self.state.is_moving && keys.iter().any(|key| self.state.entry(key).is_none()) {
            return fail("ERR Script attempted to access a non local key in a cluster node");
        }
        Ok(command)
    }
}
