//! Runs the checker.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use stateright::{Checker, Expectation, HasDiscoveries, Model};

use crate::configuration::Configuration;

/// What an exploration came to.
#[derive(Debug)]
pub struct Report {
    /// The configuration's name.
    pub name: &'static str,
    /// Different states.
    pub states: usize,
    /// Steps to the farthest of them.
    pub depth: usize,
    /// How long it took.
    pub took: Duration,
    /// Each rule that was found broken, with the shortest way there.
    pub broken: BTreeMap<&'static str, Vec<String>>,
    /// What should have been seen somewhere, and was not.
    pub unseen: Vec<&'static str>,
}

/// Explores all that can happen under `configuration`, or until a rule is found broken.
pub fn explore(configuration: &Configuration) -> Report {
    search(configuration, HasDiscoveries::AnyFailures)
}

/// Explores until this rule is found broken.
pub fn explore_for(configuration: &Configuration, rule: &'static str) -> Report {
    search(configuration, HasDiscoveries::AllOf([rule].into()))
}

fn search(configuration: &Configuration, until: HasDiscoveries) -> Report {
    let begin = Instant::now();
    let checker = configuration.clone().checker().finish_when(until);
    let checker = checker.spawn_bfs().join();
    let mut discoveries = checker.discoveries();
    let mut broken = BTreeMap::new();
    let mut unseen = Vec::new();
    for property in checker.model().properties() {
        let found = discoveries.remove(property.name);
        match (property.expectation, found) {
            (Expectation::Sometimes, None) => unseen.push(property.name),
            (Expectation::Always, Some(path)) => {
                let steps = path.into_actions();
                let steps = steps.iter().map(|action| format!("{action:?}")).collect();
                broken.insert(property.name, steps);
            }
            _ => {}
        }
    }
    Report {
        name: configuration.name,
        states: checker.unique_state_count(),
        depth: checker.max_depth(),
        took: begin.elapsed(),
        broken,
        unseen,
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
