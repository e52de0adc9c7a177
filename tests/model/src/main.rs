//! Explores every configuration, or the named ones; `--deep` adds a client, more faults or
//! longer times to each.

use lock_model::{configurations, explore};

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let deep = names.iter().any(|name| name == "--deep");
    names.retain(|name| name != "--deep");
    for mut configuration in configurations::all() {
        if !names.is_empty() && !names.iter().any(|name| name == configuration.name) {
            continue;
        }
        if deep {
            configuration = configuration.deeper();
        }
        let report = explore(&configuration);
        println!("{report}");
        for steps in report.broken.values() {
            println!("{steps:#?}");
        }
    }
}
