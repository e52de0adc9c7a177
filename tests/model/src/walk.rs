//! Random walks: one step after another, each a random choice among those that may come next.
//!
//! A search sees every state of a small configuration. A walk sees a few states of a configuration
//! that no search can exhaust: five clients, every fault at once, and the real limits. It checks
//! the rules of the search after each step, and recovery at the end.
//!
//! The number of a walk makes it reproducible. If it breaks a rule, its steps are removed, first
//! half of them, then fewer, as long as the remaining steps still break that rule.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};
use std::{env, fmt};

use crate::control::Removed;
use crate::explore::{Expected, Model, Property};
use crate::{configurations, quorum};

/// Longer walks find little that several short ones do not.
const LONGEST: usize = 1_000;

/// After this many steps in a row without an alternative, nothing is left to happen.
const IDLE: usize = 20;

/// A fingerprint that is not checked for recovery, which takes as long as a thousand steps.
const ON_THE_WAY: u64 = 1;

/// A fingerprint that is checked for recovery.
const AT_THE_END: u64 = 0;

/// The limit of a series of walks, unless a rule is broken.
#[derive(Clone, Copy, Debug)]
pub enum Enough {
    Walks(u64),
    Time(Duration),
}

/// The result of a series of walks.
#[derive(Debug)]
pub struct Walked {
    pub name: &'static str,
    pub walks: u64,
    pub steps: u64,
    pub took: Duration,
    pub broken: Option<Broken>,
}

/// A walk that broke a rule.
#[derive(Debug)]
pub struct Broken {
    pub rule: &'static str,
    pub seed: u64,
    pub length: usize,
    /// The steps that break the rule.
    pub steps: Vec<String>,
}

pub trait Walk {
    fn name(&self) -> &'static str;

    /// Walks from number `seed` on, until the limit or until a rule is broken.
    fn walk(&self, seed: u64, enough: Enough) -> Walked;
}

impl<M: Model> Walk for M {
    fn name(&self) -> &'static str {
        Model::name(self)
    }

    fn walk(&self, seed: u64, enough: Enough) -> Walked {
        let begin = Instant::now();
        let _removed = Removed::new(self.removed());
        let rules = Rules::of(self);
        let mut walked = Walked {
            name: Model::name(self),
            walks: 0,
            steps: 0,
            took: Duration::ZERO,
            broken: None,
        };
        loop {
            let is_enough = match enough {
                Enough::Walks(most) => walked.walks >= most,
                Enough::Time(most) => begin.elapsed() >= most,
            };
            if is_enough || walked.broken.is_some() {
                break;
            }
            let seed = seed.wrapping_add(walked.walks);
            let (steps, rule) = {
                let _told = ToldIfItPanics(seed);
                rules.walk(seed)
            };
            walked.walks += 1;
            walked.steps += steps.len() as u64;
            walked.broken = rule.map(|rule| Broken {
                rule,
                seed,
                length: steps.len(),
                steps: rules.shrink(rule, steps),
            });
        }
        walked.took = begin.elapsed();
        walked
    }
}

/// The number in `LOCK_TEST_SEED`, or a different one in each run. It is printed, so that a failure
/// can be reproduced.
pub fn seed() -> u64 {
    let seed = env::var("LOCK_TEST_SEED").map_or_else(
        |_| RandomState::new().hash_one("a walk"),
        |seed| seed.parse().expect("the seed is a number"),
    );
    eprintln!("LOCK_TEST_SEED={seed}");
    seed
}

/// Every configuration for walks, with its name.
pub fn all() -> Vec<(&'static str, Box<dyn Walk + Send>)> {
    fn boxed(of: impl Model + Send + 'static) -> (&'static str, Box<dyn Walk + Send>) {
        (Model::name(&of), Box::new(of))
    }
    let all = configurations::walks().into_iter().map(boxed);
    let quorums = quorum::WALKS.iter().copied().map(boxed);
    all.chain(quorums).collect()
}

/// A model, and the rules that must hold in each of its states.
struct Rules<'a, M: Model> {
    model: &'a M,
    rules: Vec<Property<M>>,
}

impl<'a, M: Model> Rules<'a, M> {
    fn of(model: &'a M) -> Rules<'a, M> {
        let mut rules = model.properties();
        rules.retain(|property| property.expected == Expected::Always);
        Rules { model, rules }
    }

    fn broken(&self, state: &M::State, mark: u64) -> Option<&'static str> {
        let mut rules = self.rules.iter();
        let broken = rules.find(|rule| !rule.holds(self.model, state, mark));
        broken.map(|rule| rule.name)
    }

    /// The steps of one walk, and the rule that it broke.
    fn walk(&self, seed: u64) -> (Vec<M::Action>, Option<&'static str>) {
        let mut chance = Chance(seed);
        let mut state = self.model.first();
        let (mut steps, mut possible) = (Vec::new(), Vec::new());
        let mut idle = 0;
        while steps.len() < LONGEST && idle < IDLE {
            self.model.actions(&state, &mut possible);
            idle = if possible.len() > 1 { 0 } else { idle + 1 };
            let Some(&step) = possible.get(chance.below(possible.len())) else {
                break;
            };
            possible.clear();
            self.model.step(&mut state, step);
            steps.push(step);
            let broken = self.broken(&state, ON_THE_WAY);
            if broken.is_some() {
                return (steps, broken);
            }
        }
        (steps, self.broken(&state, AT_THE_END))
    }

    /// Removes the steps that the rule's breach does not need.
    fn shrink(&self, rule: &'static str, mut steps: Vec<M::Action>) -> Vec<String> {
        let mut size = steps.len().div_ceil(2);
        loop {
            let before = steps.len();
            let mut at = 0;
            while at < steps.len() {
                let end = (at + size).min(steps.len());
                let rest = steps[..at].iter().chain(&steps[end..]);
                match self.repeat(rule, rest) {
                    Some(fewer) => steps = fewer,
                    None => at += size,
                }
            }
            if size == 1 && steps.len() == before {
                return steps.iter().map(|step| format!("{step:?}")).collect();
            }
            size = size.div_ceil(2);
        }
    }

    /// Repeats the steps that are possible. Returns them if they break the rule.
    fn repeat<'s>(
        &self,
        rule: &'static str,
        steps: impl Iterator<Item = &'s M::Action>,
    ) -> Option<Vec<M::Action>>
    where
        M::Action: 's,
    {
        let mut state = self.model.first();
        let (mut done, mut possible) = (Vec::new(), Vec::new());
        for &step in steps {
            possible.clear();
            self.model.actions(&state, &mut possible);
            if !possible.contains(&step) {
                continue;
            }
            self.model.step(&mut state, step);
            done.push(step);
            match self.broken(&state, ON_THE_WAY) {
                Some(broken) if broken == rule => return Some(done),
                Some(_) => return None,
                None => {}
            }
        }
        (self.broken(&state, AT_THE_END) == Some(rule)).then_some(done)
    }
}

/// A reproducible source of random numbers: splitmix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        ((u128::from(bits) * end as u128) >> 64) as usize
    }
}

/// Reports the number of the walk that panicked.
struct ToldIfItPanics(u64);

impl Drop for ToldIfItPanics {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("LOCK_TEST_SEED={}", self.0);
        }
    }
}

impl Walked {
    /// Prints the result. Panics if a rule was broken.
    pub fn expect_sound(&self) {
        println!("{self}");
        assert!(self.broken.is_none(), "{self}");
    }

    /// Prints how a mistake breaks a rule. Panics if it breaks none.
    pub fn expect_broken(&self, mistake: &dyn fmt::Debug) {
        assert!(self.broken.is_some(), "{mistake:?} goes unnoticed: {self}");
        println!("{mistake:?}: {self}");
    }
}

impl fmt::Display for Walked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Walked {
            name,
            walks,
            steps,
            took,
            broken,
        } = self;
        write!(
            f,
            "{name:24} {walks:>9} walks, {steps:>10} steps, {took:>8.1?}"
        )?;
        if let Some(Broken {
            rule,
            seed,
            length,
            steps,
        }) = broken
        {
            write!(
                f,
                "\n  LOCK_TEST_SEED={seed}: broken in {} of {length} steps: {rule}",
                steps.len()
            )?;
            for step in steps {
                write!(f, "\n    {step}")?;
            }
        }
        Ok(())
    }
}
