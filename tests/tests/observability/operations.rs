//! The rules and the dashboard of `examples/operations`, by Prometheus' own tool, and by what the crate exports.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

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

/// What the tool says of these arguments. Where there is none, the run prints the test's name; with
/// `LOCK_REQUIRE_PROMTOOL` it fails.
fn promtool(arguments: &[&str], test: &str) -> Option<Result<String, String>> {
    let mut promtool = Command::new("promtool");
    let output = match promtool.args(arguments).current_dir(file("")).output() {
        Ok(output) => output,
        Err(error) => {
            let is_required = std::env::var_os("LOCK_REQUIRE_PROMTOOL").is_some();
            assert!(!is_required, "promtool cannot be run: {error}");
            // Not by a macro, since its output is hidden in tests that pass.
            let told = writeln!(
                std::io::stderr(),
                "{test} DID NOT RUN, no promtool: {error}"
            );
            told.expect("stderr is open");
            return None;
        }
    };
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Some(match output.status.success() {
        true => Ok(said),
        false => Err(said),
    })
}

/// The queries of the dashboard, with values for its variables.
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

/// The metrics that a text names, as the crate names them: a histogram has several in Prometheus.
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
fn rules_are_valid_and_ring_where_they_should() {
    let test = "rules_are_valid_and_ring_where_they_should";
    let check = ["check", "rules", "--lint=all", "--lint-fatal", "alerts.yml"];
    for arguments in [&check[..], &["test", "rules", "alerts.test.yml"]] {
        let Some(outcome) = promtool(arguments, test) else {
            return;
        };
        if let Err(said) = outcome {
            panic!("{said}");
        }
    }
}

#[test]
fn each_alert_has_a_test_and_is_explained() {
    let (rules, tests, readme) = (
        text("alerts.yml"),
        text("alerts.test.yml"),
        text("README.md"),
    );
    let alerts = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    let alerts: Vec<&str> = alerts.collect();
    assert!(alerts.len() > 4, "{alerts:?}");
    for alert in alerts {
        let rings = format!("alertname: {alert}\n");
        let is_silent = format!("{{alertname: {alert}, ");
        assert!(tests.contains(&rings), "{alert} never rings in a test");
        assert!(tests.contains(&is_silent), "{alert} always rings in a test");
        assert!(
            readme.contains(&format!("\n**{alert}.** ")),
            "{alert} is not explained"
        );
    }
}

#[test]
fn queries_of_the_dashboard_are_valid() {
    let queries = queries();
    assert!(queries.len() > 10, "{queries:?}");
    let rules = queries.iter().enumerate().map(|(number, query)| {
        assert!(!query.contains('$'), "a variable has no value: {query}");
        format!("  - record: query:{number}\n    expr: '{query}'\n")
    });
    let rules = format!(
        "groups:\n- name: dashboard\n  rules:\n{}",
        rules.collect::<String>()
    );
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(rules.as_bytes()).expect("it can be written");
    let path = file.path().to_str().expect("it is text");
    let outcome = promtool(
        &["check", "rules", path],
        "queries_of_the_dashboard_are_valid",
    );
    if let Some(Err(said)) = outcome {
        panic!("{said}\n{rules}");
    }
}

#[test]
fn dashboard_shows_the_first_loss_of_a_process() {
    let losses = queries();
    let losses: Vec<_> = losses
        .iter()
        .filter(|query| query.contains("distributed_lock_losses_total"))
        .collect();
    assert_eq!(losses.len(), 2, "{losses:?}");
    for query in losses {
        let labels = match query.contains("by (template, reason)") {
            true => r#"{template="order:<id>", reason="expired"}"#,
            false => "{}",
        };
        let process = r#"job="shop", instance="api-1""#;
        let series = format!(
            r#"distributed_lock_losses_total{{{process}, template="order:<id>", reason="expired"}}"#
        );
        // Within either range, of 5 min or an hour, the process is new to neither.
        let tests = format!(
            "rule_files: []
tests:
  - interval: 30s
    input_series:
      - {{series: 'up{{{process}}}', values: '1x200'}}
      - {{series: '{series}', values: '_x144 1x56'}}
    promql_expr_test:
      - eval_time: 73m
        expr: '{query}'
        exp_samples: [{{labels: '{labels}', value: 1}}]
"
        );
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        file.write_all(tests.as_bytes()).expect("it can be written");
        let path = file.path().to_str().expect("it is text");
        let test = "dashboard_shows_the_first_loss_of_a_process";
        if let Some(Err(said)) = promtool(&["test", "rules", path], test) {
            panic!("{said}\n{tests}");
        }
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
