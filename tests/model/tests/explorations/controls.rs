//! A safety line of the runtime is removed from the files that the model shares, and a rule is broken.
//!
//! `lock-runtime/src/control/lines.rs` names the configuration that shows it, and the rule. Rows of the fault table show the
//! lines of other files: `tests/control/run`.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use lock_model::quorum::{self, Mistake, Quorum};
use lock_model::{Explore, SAFETY_LINES, Walk};

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

impl Line {
    fn mistake(&self) -> Mistake {
        Mistake::without(self.name).expect("the model removes it")
    }

    /// The configuration without the line, if it is among these.
    fn among(&self, all: &[Quorum]) -> Option<Quorum> {
        let found = all.iter().find(|of| of.name == self.configuration);
        found.map(|of| of.with(self.mistake()))
    }

    fn is_noticed(&self) {
        let mistake = self.mistake();
        if let Some(walk) = self.among(quorum::WALKS) {
            let walked = walk.walk(1, ENOUGH);
            walked.expect_broken(&mistake);
            assert_eq!(walked.broken.map(|broken| broken.rule), Some(self.rule));
        } else {
            let search = self.among(quorum::CONFIGURATIONS);
            let report = search.expect("a configuration").explore_for(self.rule);
            report.expect_broken(self.rule, &mistake);
        }
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
pub(crate) fn walked() -> impl Iterator<Item = Mistake> {
    let by_walks = |line: &&Line| line.among(quorum::WALKS).is_some();
    LINES.iter().filter(by_walks).map(Line::mistake)
}

/// Those that are shown here by searches.
pub(crate) fn searched() -> impl Iterator<Item = Mistake> {
    let by_searches = |line: &&Line| line.among(quorum::WALKS).is_none();
    LINES.iter().filter(by_searches).map(Line::mistake)
}
