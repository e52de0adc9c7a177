//! Explores every configuration of the models: no rule is broken. The mistakes that can be made there are found.
//!
//! The long form explores them to exhaustion, and every scenario is seen. The short form explores the nearest states of each:
//! five of six seeded mistakes are found there.

mod frames;
mod mistakes;

use std::env;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use lock_model::{Explore, configurations, quorum, several};

/// So many states of a configuration are explored in the short form.
const NEAREST: usize = 20_000;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let mut trials = Vec::new();
    trials.extend(
        configurations::all()
            .into_iter()
            .map(|of| exploration(of.name, of)),
    );
    trials.extend(
        several::CONFIGURATIONS
            .iter()
            .map(|of| exploration(&format!("several, {}", of.name), *of)),
    );
    trials.extend(
        quorum::CONFIGURATIONS
            .iter()
            .map(|of| exploration(of.name, *of)),
    );
    trials.extend(frames::trials());
    trials.extend(mistakes::trials());
    libtest_mimic::run(&args, trials).exit_code()
}

fn exploration(name: &str, configuration: impl Explore + Send + 'static) -> Trial {
    // `tests/run --long` sets it.
    let is_long = env::var("LOCK_TEST_LONG").is_ok_and(|value| value == "1");
    trial(&named(name), move || match is_long {
        true => configuration.explore().expect_sound(),
        false => configuration.explore_some(NEAREST).expect_sound(),
    })
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
