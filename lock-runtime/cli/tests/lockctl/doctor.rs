//! `lockctl doctor`.

use std::time::Duration;

use harness::{LONG, RawLock, RedisQuorum, RedisServer, ask, client, wait_until};
use serde_json::Value;

use crate::{done, lockctl, text};

/// A server that passes all checks.
pub(crate) fn fit() -> RedisServer {
    let server = RedisServer::builder().durable();
    server.rights(&["+info"]).start()
}

/// The findings and the exit code of the doctor.
#[track_caller]
pub(crate) fn told(server: &RedisServer, url: &str) -> (Vec<Value>, Option<i32>) {
    let mut command = lockctl(server, &["doctor", "--json"]);
    let output = command.env("LOCK_URL", url).output().unwrap();
    let lines = text(&output.stdout);
    let said = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (said.collect(), output.status.code())
}

/// Asserts that only this check fails, with this verdict. A busy machine answers slowly, which is another complaint.
#[track_caller]
pub(crate) fn complains_of(server: &RedisServer, check: &str, verdict: &str) {
    let (said, code) = told(server, &server.admin_url());
    let complaints: Vec<_> = said
        .iter()
        .filter(|finding| finding["verdict"] != "ok" && finding["check"] != "reachable")
        .collect();
    let [finding] = &complaints[..] else {
        panic!("{check}: {complaints:?}");
    };
    assert_eq!(
        (&finding["check"], &finding["verdict"]),
        (&check.into(), &verdict.into())
    );
    for field in ["value", "reason", "change"] {
        assert_ne!(finding[field], "", "{finding}");
    }
    assert_eq!(code, Some(i32::from(verdict == "fail")));
}

#[test]
fn fit_server_has_no_complaint() {
    let server = fit();
    let (said, code) = told(&server, &server.admin_url());
    let checks: Vec<_> = said
        .iter()
        .map(|finding| finding["check"].as_str().unwrap())
        .collect();
    let expected = [
        "reachable",
        "tls",
        "clock",
        "version",
        "eviction",
        "memory",
        "persistence",
        "role",
        "clients",
        "rights",
        "trial",
        "locks",
        "fences",
    ];
    assert!(
        expected.iter().all(|check| checks.contains(check)),
        "{checks:?}"
    );
    // A busy machine answers slowly.
    for finding in said.iter().filter(|of| of["check"] != "reachable") {
        assert_eq!(finding["verdict"], "ok", "{finding}");
    }
    assert_eq!(code, Some(0));
    let words = text(&done(&server, &["doctor"]).stdout);
    assert!(words[4..].starts_with(" reachable    p50 "), "{words}");
    let last = words.lines().last().unwrap_or_default();
    assert!(last.starts_with("fit for locks: "), "{words}");
}

#[test]
fn server_that_evicts_is_unfit() {
    let server = fit();
    server.config_set("maxmemory", "1gb");
    server.config_set("maxmemory-policy", "allkeys-lru");
    complains_of(&server, "eviction", "fail");
}

#[test]
fn server_that_is_nearly_full_is_warned_about() {
    let server = fit();
    let connection = &mut server.connection();
    // The doctor's own clients and scripts are little beside it.
    // Written by the server itself, whose memory would have room for a long command for a moment.
    ask::<i64>(connection, &["SETRANGE", "user:1", "20000000", "x"]);
    let used: String = ask(connection, &["INFO", "memory"]);
    let used = used
        .lines()
        .find_map(|line| line.strip_prefix("used_memory:"))
        .unwrap();
    let used: u64 = used.trim().parse().unwrap();
    server.config_set("maxmemory", &(used * 11 / 10).to_string());
    complains_of(&server, "memory", "warn");
}

#[test]
fn server_without_persistence_is_warned_about() {
    let server = RedisServer::builder().rights(&["+info"]).start();
    complains_of(&server, "persistence", "warn");
}

#[test]
fn too_many_clients_are_warned_about() {
    let server = fit();
    // The doctor is two of them.
    server.config_set("maxclients", "10");
    let _others = [(); 7].map(|()| server.connection());
    complains_of(&server, "clients", "warn");
}

#[test]
fn clock_that_is_off_is_warned_about_and_tokens_ahead_of_it_fail() {
    let server = RedisServer::builder().durable().own_clock().start();
    server.forward(Duration::from_secs(3600));
    complains_of(&server, "clock", "warn");
    let url = server.admin_url();
    let mut holding = crate::Running::start({
        let mut command = lockctl(
            &server,
            &["hold", "import", "--for", "10m", "--reason", "test"],
        );
        command.env("LOCK_URL", &url);
        command
    });
    holding.lines().next().expect("it is held");
    server.back(Duration::from_secs(3600));
    complains_of(&server, "tokens", "fail");
}

#[tokio::test]
async fn strange_records_are_warned_about() {
    let server = fit();
    let connection = &mut server.connection();
    ask::<()>(connection, &["SET", "lock:x", "mine", "PX", "600000"]);
    complains_of(&server, "foreign", "warn");
    ask::<()>(connection, &["DEL", "lock:x"]);
    let held = client(server.url()).lock("x").acquire().await.unwrap();
    ask::<i64>(connection, &["PERSIST", "lock:x"]);
    complains_of(&server, "expiry", "warn");
    held.release().await.unwrap();
    ask::<i64>(connection, &["RPUSH", "lock:x", "mine"]);
    complains_of(&server, "type", "fail");
}

#[test]
fn primary_that_grants_locks_when_it_is_cut_off_is_warned_about() {
    let server = fit();
    let replicas = [(); 2].map(|()| server.replica());
    let online = |count: usize| {
        wait_until("replicas", LONG, || {
            let info: String = ask(&mut server.connection(), &["INFO", "replication"]);
            info.matches("state=online").count() == count
        });
    };
    online(2);
    complains_of(&server, "cut-off", "warn");
    server.config_set("min-replicas-to-write", "1");
    let (said, _) = told(&server, &server.admin_url());
    let cut_off = said.iter().find(|finding| finding["check"] == "cut-off");
    assert_eq!(cut_off.expect("it was checked")["verdict"], "ok");
    drop(replicas);
    online(0);
    let (said, code) = told(&server, &server.admin_url());
    let failed = said.iter().filter(|finding| finding["verdict"] == "fail");
    let failed: Vec<_> = failed
        .filter_map(|finding| finding["check"].as_str())
        .collect();
    assert_eq!((failed, code), (vec!["cut-off", "commands"], Some(1)));
}

#[test]
fn fences_that_take_much_of_the_memory_are_warned_about() {
    let server = fit();
    let connection = &mut server.connection();
    // Each is as large as the fences of many keys together.
    for number in 0..300 {
        let name = format!("{{lock:order:{number}}}:f");
        ask::<()>(connection, &["SET", &name, &"1".repeat(100_000)]);
    }
    server.config_set("maxmemory", "100mb");
    complains_of(&server, "fences", "warn");
    server.config_set("maxmemory", "0");
    // The trial leaves one.
    let (said, code) = told(&server, &server.admin_url());
    let fences = said
        .iter()
        .find(|finding| finding["check"] == "fences")
        .unwrap();
    let value = fences["value"].as_str().unwrap();
    assert!(
        value.starts_with("301, 1") && value.ends_with(" bytes each"),
        "{value}"
    );
    assert_eq!(code, Some(0));
}

#[test]
fn waiter_that_is_gone_is_warned_about() {
    let server = fit();
    let mut scripts = RawLock::new(&server, "order:42");
    scripts.acquire('a', 600_000).unwrap();
    scripts.acquire('b', 600_000).unwrap();
    let queues = |said: &[Value]| {
        let finding = said.iter().find(|finding| finding["check"] == "queues");
        finding.unwrap_or_else(|| panic!("no finding about queues: {said:?}"))["verdict"].clone()
    };
    assert_eq!(queues(&told(&server, &server.admin_url()).0), "ok");
    scripts.stop_heart('b');
    complains_of(&server, "queues", "warn");
}

#[test]
fn replica_and_unreachable_server_are_unfit() {
    let server = fit();
    let replica = server.replica();
    let (said, code) = told(&server, &replica.admin_url());
    assert_eq!(
        (said.len(), &said[0]["verdict"]),
        (1, &"fail".into()),
        "{said:?}"
    );
    assert!(
        said[0]["reason"].as_str().unwrap().contains("replica"),
        "{said:?}"
    );
    assert!(matches!(code, Some(3 | 4)), "{code:?}");
    let (said, code) = told(&server, "redis://127.0.0.1:1");
    assert_eq!((&said[0]["check"], code), (&"reachable".into(), Some(3)));
}

#[test]
fn each_node_of_a_quorum_is_checked() {
    let quorum = RedisQuorum::start();
    quorum.nodes[1].config_set("maxmemory", "1gb");
    quorum.nodes[1].config_set("maxmemory-policy", "allkeys-lru");
    let (said, code) = told(&quorum.nodes[0], &quorum.url());
    let evict: Vec<_> = said
        .iter()
        .filter(|finding| finding["check"] == "eviction")
        .collect();
    let verdicts: Vec<_> = evict
        .iter()
        .map(|finding| finding["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["ok", "fail", "ok"], "{said:?}");
    let port = quorum.nodes[1].port().to_string();
    assert!(
        evict[1]["server"].as_str().unwrap().contains(&port),
        "{evict:?}"
    );
    assert_eq!(code, Some(1));

    // Findings that all nodes share are printed once, others with their node.
    let output = lockctl(&quorum.nodes[0], &["doctor"])
        .env("LOCK_URL", quorum.url())
        .output()
        .unwrap();
    let words = text(&output.stdout);
    let of = |check: &str| -> Vec<&str> {
        let lines = words.lines().filter(|line| line.contains(check));
        lines.collect()
    };
    let version = of("version  ");
    assert!(
        version.len() == 1 && version[0].ends_with("(all 3 servers)"),
        "{words}"
    );
    let eviction = of(" eviction  ");
    assert!(
        eviction[0].starts_with("ok ") && !eviction[0].contains(&port),
        "{words}"
    );
    assert!(
        eviction[1].starts_with("FAIL ") && eviction[1].contains(&port),
        "{words}"
    );
    assert!(words.lines().count() <= 35, "{words}");
    let last = words.lines().last().unwrap();
    assert!(
        last.starts_with("not fit for locks: 1 FAIL (eviction), "),
        "{words}"
    );
}
