//! A command of the table.

use super::scripts;
use crate::reply::{Outcome, Reply};
use crate::state::State;
use crate::value::Bytes;

/// A command of the table.
#[derive(Debug)]
pub(crate) struct Command {
    /// In upper case.
    pub(crate) name: &'static str,
    run: Run,
    /// As in `COMMAND INFO`: the number of words with the name, or minus the least number.
    pub(crate) arity: isize,
    keys: Keys,
    pub(crate) effect: Effect,
    /// Whether scripts, too, may call it.
    pub(crate) is_for_scripts: bool,
}

/// Runs the command on the words after its name, of which there are as many as the arity demands.
type Run = fn(&mut State, &[Bytes]) -> Outcome;

/// The words that are keys.
#[derive(Debug)]
pub(super) enum Keys {
    None,
    First,
    All,
    /// Those of a script, whose number is a word.
    Counted,
}

/// What a command may do to the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Writes,
    /// It writes, and a server out of memory refuses it.
    Grows,
}

impl Command {
    pub(super) const fn reads(name: &'static str, run: Run, arity: isize, keys: Keys) -> Self {
        Self {
            name,
            run,
            arity,
            keys,
            effect: Effect::Reads,
            is_for_scripts: true,
        }
    }

    pub(super) const fn writes(name: &'static str, run: Run, arity: isize, keys: Keys) -> Self {
        let effect = Effect::Writes;
        Self {
            effect,
            ..Self::reads(name, run, arity, keys)
        }
    }

    pub(super) const fn grows(name: &'static str, run: Run, arity: isize, keys: Keys) -> Self {
        let effect = Effect::Grows;
        Self {
            effect,
            ..Self::reads(name, run, arity, keys)
        }
    }

    /// A command that scripts may not call.
    pub(super) const fn client(name: &'static str, run: Run, arity: isize, keys: Keys) -> Self {
        Self {
            is_for_scripts: false,
            ..Self::reads(name, run, arity, keys)
        }
    }

    /// Returns whether the command may have so many words, its name included.
    pub(crate) fn admits(&self, words: usize) -> bool {
        let number = self.arity.unsigned_abs();
        if self.arity < 0 {
            words >= number
        } else {
            words == number
        }
    }

    /// Returns the words that are keys.
    pub(crate) fn keys<'a>(&self, words: &'a [Bytes]) -> &'a [Bytes] {
        match self.keys {
            Keys::None => &[],
            Keys::First => &words[1..2],
            Keys::All => &words[1..],
            Keys::Counted => scripts::split(&words[1..]).map_or(&[], |(keys, _)| keys),
        }
    }

    /// Runs the command on its words, the first of which is its name.
    pub(crate) fn run(&self, state: &mut State, words: &[Bytes]) -> Reply {
        (self.run)(state, &words[1..]).unwrap_or_else(|error| error)
    }
}
