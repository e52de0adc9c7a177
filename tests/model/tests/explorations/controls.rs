//! Removes each safety line of the runtime from the files that the model shares: a rule must break.
//!
//! `lock-runtime/src/control/lines.rs` lists the configuration that shows it, and the rule. Rows of
//! the fault table show the lines of other files: `tests/control/run`.

use libtest_mimic::Trial;
use lock_model::{Explore, SafetyLine, Walk, configurations, quorum};

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
        match quorum::named(self.configuration) {
            Some(quorum) => self.is_shown_by(&quorum.without(self.line)),
            None => self.is_shown_by(&configurations::named(self.configuration).without(self.line)),
        }
    }

    /// Panics if the configuration does not notice the missing line.
    fn is_shown_by(&self, configuration: &(impl Explore + Walk)) {
        if self.configuration.starts_with("walk") {
            let walked = configuration.walk(1, ENOUGH);
            walked.expect_broken(&self.line);
            assert_eq!(walked.broken.map(|broken| broken.rule), Some(self.rule));
        } else {
            let report = configuration.explore_for(self.rule);
            report.expect_broken(self.rule, &self.line);
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
