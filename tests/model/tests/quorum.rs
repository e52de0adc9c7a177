//! A lock on a majority of nodes: every state of every configuration, and the mistakes that must be found.

use std::io::Write;

use lock_model::quorum::CONFIGURATIONS;

/// `eprintln!` would be captured by the test harness.
fn say(line: &str) {
    let mut stderr = std::io::stderr();
    writeln!(stderr, "{line}").expect("stderr is open");
}

#[test]
fn majority_excludes_and_serves_in_every_state() {
    for configuration in CONFIGURATIONS {
        let report = configuration.explore();
        say(&format!("quorum, {report}"));
        assert!(report.broken.is_empty(), "{:#?}", report.broken);
        assert!(report.unseen.is_empty(), "{report}");
    }
}
