//! Explores every configuration of the models: no rule breaks, and each seeded mistake is found.
//!
//! The long form explores them exhaustively, and sees every scenario. The short form does the same
//! with the small ones, which takes some seconds, and walks through larger ones. A configuration whose name is the filter
//! is explored in both forms. Some of quorums take so long that they are explored only then.

mod controls;
mod mistakes;
mod small;
mod walks;

use std::env;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use lock_model::{Explore, configurations, quorum};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let is_asked_for = |name| args.filter == Some(named(name));
    let is_explored = |name| is_small(name) || is_long() || is_asked_for(name);
    let mut trials = Vec::new();
    trials.extend(
        configurations::all()
            .into_iter()
            .filter(|of| is_explored(of.name))
            .map(|of| exploration(of.name, of)),
    );
    trials.extend(
        quorum::CONFIGURATIONS
            .iter()
            .filter(|of| is_explored(of.name))
            .chain(quorum::DEEP.iter().filter(|of| is_asked_for(of.name)))
            .map(|of| exploration(of.name, *of)),
    );
    trials.extend(controls::trials());
    trials.extend(mistakes::trials());
    trials.extend(walks::trials());
    libtest_mimic::run(&args, trials).exit_code()
}

/// Explores a configuration.
fn exploration(name: &str, configuration: impl Explore + Send + 'static) -> Trial {
    let is_small = is_small(name);
    trial(&named(name), move || {
        let report = configuration.explore();
        report.expect_sound();
        assert_eq!(report.states <= small::MOST, is_small, "see `small`");
    })
}

fn is_small(name: &str) -> bool {
    small::NAMES.contains(&named(name).as_str())
}

/// `tests/run --long` sets it.
fn is_long() -> bool {
    env::var("LOCK_TEST_LONG").is_ok_and(|value| value == "1")
}

/// A name without spaces.
fn named(name: &str) -> String {
    name.replace(", ", "_").replace(' ', "_").replace('\'', "")
}

fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
