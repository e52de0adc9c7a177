//! The checker: visits every reachable state, nearest first, and checks each one once.
//!
//! A 64-bit fingerprint identifies a state. A table stores the predecessor of each state, so that
//! the steps to a broken rule can be repeated. stateright was the next best choice, but it copies
//! the steps to each next state and looks every property up in a shared map, which took half of the
//! time.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::hash::{BuildHasherDefault, Hash};
use std::time::{Duration, Instant};

use crate::control::{Removed, SafetyLine};
use crate::fingerprint::{Fingerprint, Identity};

pub(crate) trait Model {
    type State: Clone + Hash;
    type Action: Copy + PartialEq + fmt::Debug;

    fn name(&self) -> &'static str;

    /// The safety line that is removed, if any.
    fn removed(&self) -> Option<SafetyLine>;

    fn first(&self) -> Self::State;

    /// Appends the actions that may come next.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// Performs an action.
    fn step(&self, state: &mut Self::State, action: Self::Action);

    /// Makes states equal whose difference does not matter.
    fn reduce(&self, state: &mut Self::State);

    fn next(&self, state: &Self::State, action: Self::Action) -> Self::State {
        let mut next = state.clone();
        self.step(&mut next, action);
        self.reduce(&mut next);
        next
    }

    fn properties(&self) -> Vec<Property<Self>>;
}

pub(crate) struct Property<M: Model + ?Sized> {
    pub(crate) name: &'static str,
    pub(crate) expected: Expected,
    holds: Condition<M>,
}

/// Whether a property holds in a state with this fingerprint.
type Condition<M> = Box<dyn Fn(&M, &<M as Model>::State, u64) -> bool>;

impl<M: Model> Property<M> {
    pub(crate) fn always(
        name: &'static str,
        holds: impl Fn(&M, &M::State, u64) -> bool + 'static,
    ) -> Property<M> {
        Property {
            name,
            expected: Expected::Always,
            holds: Box::new(holds),
        }
    }

    pub(crate) fn holds(&self, model: &M, state: &M::State, mark: u64) -> bool {
        (self.holds)(model, state, mark)
    }

    pub(crate) fn sometimes(
        name: &'static str,
        holds: impl Fn(&M, &M::State, u64) -> bool + 'static,
    ) -> Property<M> {
        Property {
            name,
            expected: Expected::Sometimes,
            holds: Box::new(holds),
        }
    }
}

/// In which states a property must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Always,
    Sometimes,
}

/// The fingerprint of each state that was reached, and of its predecessor.
type Reached = HashMap<u64, u64, BuildHasherDefault<Identity>>;

/// Explores every state, or until this rule is broken; `None` is any rule.
fn search<M: Model>(model: &M, until: Option<&str>) -> Report {
    let begin = Instant::now();
    let _removed = Removed::new(model.removed());
    let properties = model.properties();
    let mut found: BTreeMap<&'static str, u64> = BTreeMap::new();
    let first = model.first();
    let mark = Fingerprint::of(&first);
    let mut reached = Reached::from_iter([(mark, mark)]);
    let mut waiting = VecDeque::from([(first, mark, 0)]);
    let mut actions = Vec::new();
    let mut depth = 0;
    while let Some((state, mark, steps)) = waiting.pop_front() {
        depth = steps;
        let mut is_over = false;
        for property in &properties {
            let holds = property.holds(model, &state, mark);
            let is_always = property.expected == Expected::Always;
            if holds != is_always && !found.contains_key(property.name) {
                found.insert(property.name, mark);
                is_over |= is_always && until.is_none_or(|rule| rule == property.name);
            }
        }
        if is_over {
            break;
        }
        model.actions(&state, &mut actions);
        for action in actions.drain(..) {
            let next = model.next(&state, action);
            let next_mark = Fingerprint::of(&next);
            if let Entry::Vacant(entry) = reached.entry(next_mark) {
                entry.insert(mark);
                waiting.push_back((next, next_mark, steps + 1));
            }
        }
    }
    let expecting = |expected| {
        let properties = properties.iter();
        properties.filter(move |property| property.expected == expected)
    };
    let broken = expecting(Expected::Always).filter_map(|property| {
        let mark = *found.get(property.name)?;
        Some((property.name, steps_to(mark, model, &reached)))
    });
    let unseen = expecting(Expected::Sometimes).map(|property| property.name);
    Report {
        name: model.name(),
        states: reached.len(),
        depth,
        took: begin.elapsed(),
        broken: broken.collect(),
        unseen: unseen.filter(|name| !found.contains_key(name)).collect(),
    }
}

/// The steps from the first state to the state with this fingerprint.
fn steps_to<M: Model>(mark: u64, model: &M, reached: &Reached) -> Vec<String> {
    let mut marks = vec![mark];
    loop {
        let last = marks[marks.len() - 1];
        let before = reached[&last];
        if before == last {
            break;
        }
        marks.push(before);
    }
    let mut state = model.first();
    let mut steps = Vec::new();
    for &mark in marks.iter().rev().skip(1) {
        let mut actions = Vec::new();
        model.actions(&state, &mut actions);
        let mut nexts = actions
            .into_iter()
            .map(|action| (action, model.next(&state, action)));
        let (action, next) = nexts
            .find(|(_, next)| Fingerprint::of(next) == mark)
            .expect("one of the actions reaches the state");
        steps.push(format!("{action:?}"));
        state = next;
    }
    steps
}

/// The result of an exploration.
#[derive(Debug)]
pub struct Report {
    pub name: &'static str,
    pub states: usize,
    pub depth: usize,
    pub took: Duration,
    /// Each broken rule, with the shortest steps to it.
    pub broken: BTreeMap<&'static str, Vec<String>>,
    /// The properties that should hold in some state, but hold in none.
    pub unseen: Vec<&'static str>,
}

pub trait Explore {
    /// Explores every state, or until a rule is broken.
    fn explore(&self) -> Report;

    /// Explores until this rule is broken.
    fn explore_for(&self, rule: &'static str) -> Report;
}

impl<M: Model> Explore for M {
    fn explore(&self) -> Report {
        search(self, None)
    }

    fn explore_for(&self, rule: &'static str) -> Report {
        search(self, Some(rule))
    }
}

impl Report {
    /// Prints the report. Panics unless every rule holds, and every property that should hold in
    /// some state was seen.
    pub fn expect_sound(&self) {
        println!("{self}");
        assert!(self.broken.is_empty(), "{:#?}", self.broken);
        assert!(self.unseen.is_empty(), "{self}");
    }

    /// Prints how `mistake` breaks `rule`. Panics if it does not.
    pub fn expect_broken(&self, rule: &str, mistake: &dyn fmt::Debug) {
        let steps = self.broken.get(rule);
        let steps = steps.unwrap_or_else(|| panic!("{mistake:?} goes unnoticed: {self}"));
        let (name, states, steps) = (self.name, self.states, steps.len());
        println!("{mistake:?}: {name}, {states} states, {steps} steps to break `{rule}`");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            name,
            states,
            depth,
            took,
            ..
        } = self;
        write!(
            f,
            "{name:24} {states:>9} states, depth {depth:>3}, {took:>8.1?}"
        )?;
        for (rule, steps) in &self.broken {
            write!(f, "\n  broken in {} steps: {rule}", steps.len())?;
        }
        for rule in &self.unseen {
            write!(f, "\n  never seen: {rule}")?;
        }
        Ok(())
    }
}
