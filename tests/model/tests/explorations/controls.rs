//! Removes each safety line of the runtime from the files that the model shares: a rule must break.
//!
//! `lock-runtime/src/control/lines.rs` lists the configuration that shows it, and the rule. Rows of
//! the fault table show the lines of other files: `tests/control/run`.

use libtest_mimic::Trial;
use lock_model::quorum::{self, Quorum};
use lock_model::{Configuration, Explore, SafetyLine, Walk, configurations};

use crate::trial;
use crate::walks::ENOUGH;

/// A safety line that the model must notice.
struct Line {
    line: SafetyLine,
    configuration: &'static str,
    rule: &'static str,
}

macro_rules! safety_lines {
    ($(
        $name:ident: $missing:literal, $([$($row:ident),+])? $(model $configuration:literal)?, $violation:literal;
    )+) => {
        const LINES: &[Line] = &[$($(Line {
            line: SafetyLine::$name,
            configuration: $configuration,
            rule: $violation,
        },)?)+];
    };
}

include!("../../../../lock-runtime/src/control/lines.rs");

impl Line {
    fn is_noticed(&self) {
        let (walks, all) = (configurations::walks(), configurations::all());
        let is_shown = self.is_shown(walks, all, Configuration::without) || {
            let (walks, all) = (quorum::WALKS.to_vec(), quorum::CONFIGURATIONS.to_vec());
            self.is_shown(walks, all, Quorum::without)
        };
        assert!(is_shown, "no configuration {}", self.configuration);
    }

    /// Whether the configuration is one of these. Panics if it does not notice the missing line.
    fn is_shown<C: Explore + Walk>(
        &self,
        walks: Vec<C>,
        all: Vec<C>,
        without: fn(C, SafetyLine) -> C,
    ) -> bool {
        let named = |of: &C| of.name() == self.configuration;
        if let Some(walk) = walks.into_iter().find(named) {
            let walked = without(walk, self.line).walk(1, ENOUGH);
            walked.expect_broken(&self.line);
            assert_eq!(walked.broken.map(|broken| broken.rule), Some(self.rule));
            true
        } else if let Some(search) = all.into_iter().find(named) {
            let report = without(search, self.line).explore_for(self.rule);
            report.expect_broken(self.rule, &self.line);
            true
        } else {
            false
        }
    }
}

/// A test of each line.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    LINES.iter().map(|line| {
        let name = format!("controls::{:?}", line.line);
        trial(&name, || line.is_noticed())
    })
}
