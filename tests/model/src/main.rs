//! Explores every configuration, or the named ones; `--deep` adds a client, more faults or
//! longer times to each.

use lock_model::quorum::{CONFIGURATIONS, DEEP};
use lock_model::{Explore, Report, configurations};

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let deep = names.iter().any(|name| name == "--deep");
    names.retain(|name| name != "--deep");
    let is_named = |name: &str| names.is_empty() || names.iter().any(|named| named == name);
    for mut configuration in configurations::all() {
        if !is_named(configuration.name) {
            continue;
        }
        if deep {
            configuration = configuration.deeper();
        }
        show(&configuration.explore());
    }
    let quorums = if deep { DEEP } else { CONFIGURATIONS };
    for configuration in quorums.iter().filter(|quorum| is_named(quorum.name)) {
        show(&configuration.explore());
    }
}

fn show(report: &Report) {
    println!("{report}");
    for steps in report.broken.values() {
        println!("{steps:#?}");
    }
}
