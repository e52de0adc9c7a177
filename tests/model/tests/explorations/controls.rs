//! Removes each safety line of the runtime from the files that the model shares: a rule must break.
//!
//! `lock-runtime/src/control/lines.rs` names the configuration that shows it, and the rule. Rows of the fault table show the
//! lines of other files: `tests/control/run`.

use std::collections::BTreeSet;
use std::fmt::Debug;

use libtest_mimic::Trial;
use lock_model::quorum::{self, Mistake, Quorum};
use lock_model::{Configuration, Explore, SAFETY_LINES, Seeded, Walk, configurations, walks};

use crate::trial;
use crate::walks::ENOUGH;

/// A safety line that the model must notice.
struct Line {
    name: &'static str,
    configuration: &'static str,
    rule: &'static str,
}

macro_rules! safety_lines {
    ($(
        $name:ident: $missing:literal, $([$($row:ident),+])? $(model $configuration:literal)?, $violation:literal;
    )+) => {
        const LINES: &[Line] = &[$($(Line {
            name: stringify!($name),
            configuration: $configuration,
            rule: $violation,
        },)?)+];
    };
}

include!("../../../../lock-runtime/src/control/lines.rs");

/// The mistakes of a model, some of which are made by removing a safety line.
pub(crate) trait ByRemoval: Copy + Debug {
    fn without(line: &str) -> Option<Self>;
}

impl ByRemoval for Seeded {
    fn without(line: &str) -> Option<Seeded> {
        Seeded::without(line)
    }
}

impl ByRemoval for Mistake {
    fn without(line: &str) -> Option<Mistake> {
        Mistake::without(line)
    }
}

impl Line {
    fn is_noticed(&self) {
        if let Some(mistake) = Seeded::without(self.name) {
            let with = |of: Configuration| of.with(mistake);
            let walk = self.among(configurations::walks()).map(with);
            let search = self.among(configurations::all()).map(with);
            self.is_noticed_by(walk, search, &mistake);
        } else {
            let mistake = Mistake::without(self.name).expect("the model removes it");
            let with = |of: Quorum| of.with(mistake);
            let walk = self.among(quorum::WALKS.to_vec()).map(with);
            let search = self.among(quorum::CONFIGURATIONS.to_vec()).map(with);
            self.is_noticed_by(walk, search, &mistake);
        }
    }

    fn among<C: Walk>(&self, all: Vec<C>) -> Option<C> {
        let mut all = all.into_iter();
        all.find(|of| of.name() == self.configuration)
    }

    fn is_noticed_by<C: Explore + Walk>(
        &self,
        walk: Option<C>,
        search: Option<C>,
        mistake: &dyn Debug,
    ) {
        if let Some(walk) = walk {
            let walked = walk.walk(1, ENOUGH);
            walked.expect_broken(mistake);
            assert_eq!(walked.broken.map(|broken| broken.rule), Some(self.rule));
        } else {
            let search = search.expect("a configuration");
            let report = search.explore_for(self.rule);
            report.expect_broken(self.rule, mistake);
        }
    }

    fn is_walked(&self) -> bool {
        walks().iter().any(|(name, _)| *name == self.configuration)
    }
}

/// A test of each line, and one that these are all that the model has.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![trial("controls::each_line_is_declared", || {
        let declared: BTreeSet<_> = LINES.iter().map(|line| line.name).collect();
        assert_eq!(declared, SAFETY_LINES.iter().copied().collect());
    })];
    let shown = LINES.iter().map(|line| {
        let name = format!("controls::{}", line.name);
        trial(&name, || line.is_noticed())
    });
    trials.extend(shown);
    trials
}

/// The mistakes that are shown here by walks.
pub(crate) fn walked<M: ByRemoval>() -> Vec<M> {
    shown(|line| line.is_walked())
}

/// Those that are shown here by searches.
pub(crate) fn searched<M: ByRemoval>() -> Vec<M> {
    shown(|line| !line.is_walked())
}

fn shown<M: ByRemoval>(is_one: fn(&Line) -> bool) -> Vec<M> {
    let lines = LINES.iter().filter(|line| is_one(line));
    lines.filter_map(|line| M::without(line.name)).collect()
}
