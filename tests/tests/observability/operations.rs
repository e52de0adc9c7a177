//! Compares the rules and the dashboard of `examples/operations` with what the crate exports; the long form also runs
//! them in Prometheus' own tool.

mod long;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use lock_runtime::LockClient;
use serde_json::Value;

use crate::telemetry::meter;

fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/operations");
    folder.join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).expect("the file is there")
}

/// The queries of the dashboard, with values in place of its variables.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&text("dashboard.json")).expect("it is JSON");
    let panels = dashboard["panels"].as_array().expect("it has panels");
    let targets = panels.iter().flat_map(|panel| {
        let targets = panel["targets"].as_array();
        targets.unwrap_or_else(|| panic!("no queries in {}", panel["title"]))
    });
    let queries = targets.map(|target| {
        let query = target["expr"].as_str().expect("it has a query");
        [
            ("$template", ".*"),
            ("$__rate_interval", "5m"),
            ("$__range", "1h"),
        ]
        .iter()
        .fold(query.to_owned(), |query, (name, value)| {
            query.replace(name, value)
        })
    });
    queries.collect()
}

/// The metrics in a text, as the crate names them: Prometheus splits a histogram into several.
fn named(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c));
    let metrics = words.filter(|word| word.starts_with("distributed_lock_"));
    let name = |word: &str| {
        let ends = ["_bucket", "_sum", "_count"];
        let histogram = ends.iter().find_map(|end| word.strip_suffix(end));
        histogram.unwrap_or(word).to_owned()
    };
    metrics.map(name).collect()
}

#[test]
fn each_alert_is_explained_and_has_tests_in_which_it_rings_and_is_silent() {
    let [rules, tests, readme] = ["alerts.yml", "alerts.test.yml", "README.md"].map(text);
    let lines = rules.lines().map(str::trim);
    let alerts: Vec<_> = lines
        .filter_map(|line| line.strip_prefix("- alert: "))
        .collect();
    assert!(alerts.len() > 4, "{alerts:?}");
    for alert in alerts {
        let title = format!("\n**{alert}.** ");
        assert!(readme.contains(&title), "{alert} is not explained");
        let rings = format!("alertname: {alert}\n");
        assert!(tests.contains(&rings), "{alert} never rings in a test");
        let silent = format!("{{alertname: {alert}, ");
        assert!(tests.contains(&silent), "{alert} always rings in a test");
    }
}

#[test]
fn metrics_of_rules_and_dashboard_are_exported() {
    meter::record();
    let _client = LockClient::memory();
    let exported = meter::described();
    let of_rules = named(&(text("alerts.yml") + &text("alerts.test.yml")));
    let of_dashboard = named(&queries().join("\n"));
    assert!(of_rules.len() >= 5, "{of_rules:?}");
    assert!(
        of_rules.is_subset(&exported),
        "{of_rules:?}, not {exported:?}"
    );
    assert_eq!(of_dashboard, exported, "the dashboard shows every metric");
}
