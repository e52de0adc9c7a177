//! `lockctl runs`, `list --runs` and `run --runs`.

use harness::{RedisServer, ask, patient};
use serde_json::Value;

use crate::done;
use crate::see::said;

fn json(line: &str) -> Value {
    serde_json::from_str(line).expect("a line is an object")
}

#[tokio::test]
async fn runs_are_shown_as_the_client_reads_them() {
    let server = RedisServer::start();
    assert_eq!(said(&server, &["runs", "import"], 1), [""; 0]);
    let builder = patient(server.url()).label("api-7");
    let client = builder.build().unwrap();
    let lock = client.lock("import").runs(5);
    lock.clone().run(async |_| ()).await.unwrap();
    lock.clone()
        .run(async |guard| guard.mark_failed())
        .await
        .unwrap();
    let guard = lock.acquire().await.unwrap();
    // On the connection that has recorded them.
    let runs = client.runs("import").await.unwrap();

    let lines = said(&server, &["runs", "import"], 0);
    let outcomes: Vec<&str> = lines
        .iter()
        .map(|line| line.split_whitespace().nth(1).expect("an outcome"))
        .collect();
    assert_eq!(outcomes, ["running", "failed", "done"]);
    assert!(lines[0].contains(" -  "), "no end: {lines:?}");
    for line in &lines {
        assert!(line.contains("  api-7@"), "{line}");
    }
    let shown: Vec<Value> = said(&server, &["runs", "import", "--json"], 0)
        .iter()
        .map(|line| json(line))
        .collect();
    assert_eq!(serde_json::to_value(&runs).unwrap(), Value::Array(shown));

    let other = client.lock("export").acquire().await.unwrap();
    let lines = said(&server, &["list", "--runs"], 0);
    let line_of = |key: &str| {
        let name = format!(" {key} ");
        lines.iter().find(|line| line.contains(&name)).unwrap()
    };
    let import = line_of("import");
    assert!(import[25..].starts_with("running "), "{import}");
    assert!(line_of("export").starts_with("-  "), "{lines:?}");
    let listed: Vec<Value> = said(&server, &["list", "--runs", "--json"], 0)
        .iter()
        .map(|line| json(line))
        .collect();
    for lock in &listed {
        match lock["key"].as_str().unwrap() {
            "import" => assert_eq!(lock["last_run"]["outcome"], "running"),
            _ => assert_eq!(lock["last_run"], Value::Null),
        }
    }
    guard.release().await.unwrap();
    other.release().await.unwrap();
}

/// Other programs may write whatever they like.
#[test]
fn labels_are_shown_without_control_characters() {
    let server = RedisServer::start();
    let owner = "a".repeat(22);
    let began = [
        "owner",
        &owner,
        "run",
        "1",
        "label",
        "evil\u{1b}[2J",
        "kept",
        "5",
    ];
    let add = [&["XADD", "{lock:import}:h", "*"], &began[..]].concat();
    let _: String = ask(&mut server.connection(), &add);
    let lines = said(&server, &["runs", "import"], 0);
    assert!(lines[0].ends_with("evil\\u{1b}[2J"), "{lines:?}");
    assert!(lines[0].contains(" died "), "{lines:?}");
}

#[tokio::test]
async fn command_under_a_lock_records_how_it_ended() {
    let server = RedisServer::start();
    for (line, code) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)] {
        let arguments = ["run", "job", "--runs", "5", "--", "sh", "-c", line];
        said(&server, &arguments, code);
    }
    let client = patient(server.url()).build().unwrap();
    let runs = client.runs("job").await.unwrap();
    let outcomes: Vec<&str> = runs.iter().map(|run| run.outcome.as_str()).collect();
    assert_eq!(outcomes, ["failed", "failed", "done"]);
    assert!(runs[0].label.contains(" run sh (pid "), "{runs:?}");
    for number in ["0", "1001"] {
        let output = done(&server, &["run", "job", "--runs", number, "--", "true"]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}
