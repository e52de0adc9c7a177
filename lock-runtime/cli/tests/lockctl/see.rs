//! `lockctl list`, `inspect`, `revoke` and `audit`.

use harness::{LONG, RedisServer, ask, client, eventually, patient};
use lock_runtime::{LockClient, LockGuard};

use crate::{done, lockctl, text};

/// A service that holds a lock.
async fn holder(server: &RedisServer, key: &str) -> (LockClient, LockGuard) {
    let builder = patient(server.url()).label("api-7");
    let client = builder.build().unwrap();
    let guard = client.lock(key).fenced().acquire().await.unwrap();
    (client, guard)
}

/// The lines that the program prints.
#[track_caller]
pub(crate) fn said(server: &RedisServer, arguments: &[&str], code: i32) -> Vec<String> {
    let output = done(server, arguments);
    let complaint = text(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}: {complaint}"
    );
    text(&output.stdout).lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn list_shows_a_line_for_each_selected_lock() {
    let server = RedisServer::start();
    let (_client, order) = holder(&server, "order:42").await;
    let (other, _stock) = holder(&server, "stock:1").await;
    let _held = client(server.url())
        .lock("order:\u{1b}[2J")
        .acquire()
        .await
        .unwrap();
    let waiting = tokio::spawn({
        let lock = client(server.url()).lock("order:42").wait(LONG);
        async move { lock.acquire().await }
    });
    harness::eventually("waiter", LONG, async || {
        other.inspect("order:42").await.unwrap().waiter_count() == 1
    })
    .await;

    assert_eq!(said(&server, &["list"], 0).len(), 3);
    let lines = said(&server, &["list", "order:*", "--holder", "api-7"], 0);
    let [line] = &lines[..] else {
        panic!("{lines:?}")
    };
    let token = order.fencing_token().await.unwrap().to_string();
    assert!(
        line.starts_with("order:42 ") && line.contains(&token),
        "{line}"
    );
    assert!(line.contains("  api-7@"), "{line}");
    // The key, the token, the age, the rest of the lease, the waiters, and the longest wait.
    let columns: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(columns[4], "1", "{line}");
    assert!(columns[5].ends_with('s'), "{line}");
    // The output has no characters that a terminal would obey.
    let all = said(&server, &["list"], 0).concat();
    assert!(
        all.contains("order:\\u{1b}[2J") && !all.contains('\u{1b}'),
        "{all}"
    );

    let json = said(&server, &["list", "--waiting", "--json"], 0);
    let [line] = &json[..] else {
        panic!("{json:?}")
    };
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["key"], "order:42");
    assert_eq!(line["token"], order.fencing_token().await.unwrap().get());
    assert_eq!(
        (&line["waiter_count"], &line["kind"]),
        (&1.into(), &"exclusive".into())
    );
    assert!(line["remaining_ms"].as_u64().unwrap() > 0);
    assert!(line["longest_wait_ms"].is_u64(), "{line}");

    assert_eq!(said(&server, &["list", "--limit", "2"], 0).len(), 2);
    assert_eq!(said(&server, &["list", "--older", "1h"], 0).len(), 0);
    assert_eq!(said(&server, &["list", "--older", "0ms"], 0).len(), 3);
    assert_eq!(said(&server, &["list", "none:*"], 0).len(), 0);
    waiting.abort();
}

#[tokio::test]
async fn inspect_explains_a_record() {
    let server = RedisServer::start();
    let (_client, guard) = holder(&server, "order:42").await;
    let lines = said(&server, &["inspect", "order:42"], 0);
    assert_eq!(lines[0], "lock `order:42` is held");
    assert!(lines[1].starts_with("  by api-7@"), "{lines:?}");
    assert!(
        lines[1].ends_with(&format!("token {}", guard.fencing_token().await.unwrap())),
        "{lines:?}"
    );

    let connection = &mut server.connection();
    for (command, words) in [
        (
            &["SET", "lock:x", "mine", "PX", "60000"][..],
            "another program",
        ),
        (&["SET", "lock:x", "mine"], "never expires"),
        (&["RPUSH", "lock:x", "mine"], "a type that no lock has"),
    ] {
        ask::<()>(connection, &["DEL", "lock:x"]);
        ask::<redis::Value>(connection, command);
        let lines = said(&server, &["inspect", "x"], 0).concat();
        assert!(lines.contains(words), "{lines}");
    }
    assert_eq!(
        said(&server, &["inspect", "free"], 1)[0],
        "lock `free` is free"
    );
    let json = said(&server, &["inspect", "order:42", "--json"], 0);
    let json: serde_json::Value = serde_json::from_str(&json[0]).unwrap();
    assert_eq!(
        json["holders"][0]["token"],
        guard.fencing_token().await.unwrap().get()
    );
}

/// The id at the end of the line about a lock that was taken.
fn operation_in(line: &str) -> &str {
    let (_, operation) = line
        .split_once(": it is free (operation ")
        .expect("it is freed");
    operation.strip_suffix(')').expect("the end of the line")
}

#[tokio::test]
async fn revoke_takes_the_lock_from_the_inspected_holder_and_writes_the_audit() {
    let server = RedisServer::start();
    let (_client, guard) = holder(&server, "import").await;
    let token = guard.fencing_token().await.unwrap().to_string();
    let revoke = ["revoke", "import", "--reason", "stuck", "--token"];

    // Without a terminal, the program asks nothing.
    said(&server, &[&revoke[..], &[&token]].concat(), 2);
    // The lock has another holder than the operator saw.
    let other = [&revoke[..], &["1600000000000000", "--yes"]].concat();
    let lines = said(&server, &other, 5);
    assert_eq!(lines[0], "lock `import` is held");
    let lines = said(&server, &[&other[..], &["--json"]].concat(), 5);
    let json: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(
        (&json["outcome"], &json["lock"]["key"]),
        (&"changed".into(), &"import".into())
    );
    assert!(guard.is_valid());

    let lines = said(&server, &[&revoke[..], &[&token, "--yes"]].concat(), 0);
    assert!(
        lines[0].starts_with("took lock `import` from api-7"),
        "{lines:?}"
    );
    let operation = operation_in(&lines[0]);
    tokio::time::timeout(LONG, guard.lost()).await.unwrap();
    let lost = guard.release().await.unwrap_err().to_string();
    assert!(
        lost.contains("revoked by ") && lost.contains(operation),
        "{lost}"
    );

    let again = [&revoke[..], &[&token, "--yes"]].concat();
    assert_eq!(said(&server, &again, 1).len(), 0);
    let lines = said(&server, &[&again[..], &["--json"]].concat(), 1);
    let json: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(
        json,
        serde_json::json!({ "key": "import", "outcome": "not_held" })
    );
    let lines = said(&server, &["audit", "import"], 0);
    let of_operation: Vec<_> = lines
        .iter()
        .filter(|line| line.contains(operation))
        .collect();
    assert_eq!(of_operation.len(), 2, "{lines:?}");
    assert!(of_operation[0].contains(": intended; stuck ["), "{lines:?}");
    assert!(of_operation[1].contains(": freed; stuck ["), "{lines:?}");
    assert_eq!(said(&server, &["audit", "other"], 0).len(), 0);
    let json = said(&server, &["audit", "--since", "1h", "--json"], 0);
    let line: serde_json::Value = serde_json::from_str(json.last().unwrap()).unwrap();
    assert_eq!(
        (&line["action"], &line["key"]),
        (&"revoke".into(), &"import".into())
    );
}

#[tokio::test]
async fn holder_that_asked_for_no_token_is_shown_without_one_and_revoked_by_its_hash() {
    let server = RedisServer::start();
    let guard = client(server.url()).lock("import").acquire().await;
    let guard = guard.unwrap();
    let lines = said(&server, &["inspect", "import"], 0);
    assert!(lines[1].contains(", for "), "{lines:?}");
    assert!(lines[1].contains(", no token, "), "{lines:?}");
    let listed = said(&server, &["list", "--json"], 0);
    let listed: serde_json::Value = serde_json::from_str(&listed[0]).unwrap();
    assert_eq!(listed["token"], serde_json::Value::Null);
    assert!(listed["age_ms"].as_u64().is_some(), "{listed}");
    let json = said(&server, &["inspect", "import", "--json"], 0);
    let json: serde_json::Value = serde_json::from_str(&json[0]).unwrap();
    let holder = &json["holders"][0];
    assert_eq!(holder["token"], serde_json::Value::Null);
    assert_eq!(json["last_token"], serde_json::Value::Null);
    let record = holder["record"].as_str().expect("it has no token");

    let revoke = ["revoke", "import", "--reason", "stuck", "--yes", "--hash"];
    said(&server, &[&revoke[..], &["0123456789abcdef"]].concat(), 5);
    let lines = said(&server, &[&revoke[..], &[record]].concat(), 0);
    let operation = operation_in(&lines[0]);
    tokio::time::timeout(LONG, guard.lost()).await.unwrap();
    let lost = guard.fencing_token().await.unwrap_err().to_string();
    assert!(lost.contains(operation), "{lost}");
    let lines = said(&server, &["audit", "import"], 0);
    assert!(
        lines.iter().all(|line| !line.contains("token ")),
        "{lines:?}"
    );
    said(&server, &[&revoke[..], &[record]].concat(), 1);
}

#[tokio::test]
async fn record_of_another_program_is_revoked_by_its_hash() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    ask::<()>(connection, &["SET", "lock:import", "mine", "PX", "60000"]);
    let json = said(&server, &["inspect", "import", "--json"], 0);
    let json: serde_json::Value = serde_json::from_str(&json[0]).unwrap();
    let record = json["holders"][0]["record"]
        .as_str()
        .expect("it has no token");
    let revoke = ["revoke", "import", "--reason", "gone", "--yes", "--hash"];
    said(&server, &[&revoke[..], &["0123456789abcdef"]].concat(), 5);
    said(&server, &[&revoke[..], &[record]].concat(), 0);
    assert!(!harness::exists(connection, "lock:import"));
}

#[test]
fn figures_are_compared_with_a_round_trip() {
    let server = RedisServer::start();
    let lines = said(&server, &["bench", "--time", "300ms", "--json"], 0);
    let figures: Vec<serde_json::Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<_> = figures
        .iter()
        .map(|figure| figure["figure"].clone())
        .collect();
    assert_eq!(
        names,
        ["round trip", "acquire and release", "release to next grant"]
    );
    for figure in &figures {
        assert!(figure["count"].as_u64().unwrap() >= 1, "{figure}");
        assert!(
            figure["p50_us"].as_u64() <= figure["p99_us"].as_u64(),
            "{figure}"
        );
    }
}

#[test]
fn closed_pipe_ends_the_list() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    for number in 0..2_000 {
        let key = format!("lock:order:{number}");
        ask::<()>(connection, &["SET", &key, &"x".repeat(60), "PX", "600000"]);
    }
    let mut running = crate::Running::start(lockctl(&server, &["list"]));
    // The reader closes the pipe after one line.
    assert!(running.lines().next().is_some());
    assert_eq!(running.ended().code(), Some(141));
}

/// The record of a shared lock has only the label of its first holder, which may have left.
#[tokio::test]
async fn holders_of_permits_have_no_label_of_another() {
    let server = RedisServer::start();
    let pods = ["pod-1", "pod-2", "pod-3", "pod-4"].map(|label| {
        let builder = patient(server.url()).label(label);
        builder.build().expect("the settings are valid")
    });
    let permits = |pod: &LockClient| pod.lock("feed").permits(6).take(2).wait(LONG);
    let mut guards = Vec::new();
    for pod in &pods[..3] {
        guards.push(permits(pod).acquire().await.unwrap());
    }
    guards.remove(0).release().await.unwrap();
    guards.push(permits(&pods[3]).acquire().await.unwrap());
    let waiting = tokio::spawn(permits(&pods[0]).acquire());
    let is_queued = async || pods[1].inspect("feed").await.unwrap().waiter_count() == 1;
    eventually("waiter", LONG, is_queued).await;

    let lines = said(&server, &["inspect", "feed"], 0);
    let begin = "lock `feed` is held by 3 with 6 permits; 1 waits, for ";
    assert!(lines[0].starts_with(begin), "{lines:?}");
    let holders = &lines[1..4];
    for line in holders {
        assert!(
            line.starts_with("  by a reader, or a caller with permits, 2 permits"),
            "{lines:?}"
        );
    }
    assert!(!holders.concat().contains("pod"), "{lines:?}");
    // A listing shows the lock, with the label of its record.
    let listed = said(&server, &["list"], 0);
    assert!(listed[0].contains("shared: pod-1@"), "{listed:?}");
    guards.remove(0).release().await.unwrap();
    waiting.await.unwrap().unwrap().release().await.unwrap();
}
