//! Runs the rules and the dashboard in Prometheus' own tool.

use std::io::Write;
use std::process::Command;

use super::{file, queries};

/// The tool's output for these arguments. Without the tool, the run prints the test's name; with
/// `LOCK_REQUIRE_PROMTOOL` it fails.
fn promtool(arguments: &[&str], test: &str) -> Option<Result<String, String>> {
    let mut promtool = Command::new("promtool");
    let output = match promtool.args(arguments).current_dir(file("")).output() {
        Ok(output) => output,
        Err(error) => {
            let is_required = std::env::var_os("LOCK_REQUIRE_PROMTOOL").is_some();
            assert!(!is_required, "promtool cannot be run: {error}");
            // Not printed by a macro, since the output of passing tests is hidden.
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
    Some(if output.status.success() {
        Ok(said)
    } else {
        Err(said)
    })
}

/// Runs the tool on a file of its own. Fails if it finds a mistake.
fn check(arguments: &[&str], content: &str, test: &str) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(content.as_bytes())
        .expect("it can be written");
    let path = file.path().to_str().expect("it is text");
    if let Some(Err(said)) = promtool(&[arguments, &[path]].concat(), test) {
        panic!("{said}\n{content}");
    }
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
    let test = "queries_of_the_dashboard_are_valid";
    check(&["check", "rules"], &rules, test);
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
        let labels = if query.contains("by (template, reason)") {
            r#"{template="order:<id>", reason="expired"}"#
        } else {
            "{}"
        };
        let process = r#"job="shop", instance="api-1""#;
        let series = format!(
            r#"distributed_lock_losses_total{{{process}, template="order:<id>", reason="expired"}}"#
        );
        // Within the ranges of 5 min and an hour, the process is new to neither.
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
        let test = "dashboard_shows_the_first_loss_of_a_process";
        check(&["test", "rules"], &tests, test);
    }
}
