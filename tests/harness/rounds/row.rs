//! One fault, and its required outcome.

use std::fmt;
use std::sync::Arc;

use super::arena::{Arena, Turns};
use super::round::Round;
use super::site::Site;

/// The guarantee of a lock under a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    E,
    /// No lease can exclude here; the fencing token protects the resource.
    F,
}

/// The number of rounds of a row in the long form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repetition {
    /// Ten.
    Usual,
    /// Three, since they are so slow.
    Few,
    /// One of each variant.
    Walked,
}

/// One row of the table.
#[derive(Clone)]
pub struct Row {
    /// Its name, which is also its test's name.
    pub name: &'static str,
    pub class: Class,
    repetition: Repetition,
    /// Rounds of the short form: one for each variant.
    pub variants: usize,
    /// The load of a round, in rounds on one server.
    pub places: usize,
    pub(super) play: Play,
}

/// Plays rounds one after the other, while there are turns left.
type Play = Arc<dyn Fn(&Arena, &Row, &Turns) + Send + Sync>;

/// The script of a round. It panics if the row's own expectations fail.
pub(super) type Run<S> = fn(&mut Round<'_, S>);

impl Row {
    /// A row whose rounds use the servers that `start` starts.
    pub fn new<S: Site>(
        name: &'static str,
        class: Class,
        start: fn() -> S,
        run: fn(&mut Round<'_, S>),
    ) -> Self {
        Self {
            name,
            class,
            repetition: Repetition::Usual,
            variants: 1,
            places: S::PLACES,
            play: Arc::new(move |arena, row, turns| arena.rounds(row, start, run, turns)),
        }
    }

    /// The same row, so slow that the long form has three rounds.
    pub fn few(self) -> Self {
        Self {
            repetition: Repetition::Few,
            ..self
        }
    }

    /// The same row, whose round forces one order of events. Random walks through `tests/model`
    /// explore other orders, so the long form repeats it no more often than the short form.
    pub fn walked(self) -> Self {
        Self {
            repetition: Repetition::Walked,
            ..self
        }
    }

    /// Rounds of the long form.
    pub fn rounds(&self) -> usize {
        match self.repetition {
            Repetition::Usual => 10,
            Repetition::Few => 3,
            Repetition::Walked => self.variants,
        }
    }

    /// The same row, whose script has this many variants.
    pub fn of(self, variants: usize) -> Self {
        Self { variants, ..self }
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::E => "E",
            Self::F => "F",
        })
    }
}
