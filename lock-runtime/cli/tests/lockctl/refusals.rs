//! What `lockctl` says about servers that refuse, in their own words; `lockctl doctor` fails wherever a service's calls would be refused, and names what is missing. `tests/compat` runs this
//! table on other servers.

use harness::{
    KEY, OPERATOR_RIGHTS, REPLICA_RIGHTS, RIGHTS, RedisServer, ServerState, VIEWER_RIGHTS, client,
    hold, token_of,
};
use serde_json::Value;

use crate::doctor::{fit, told};
use crate::rights::{TO_ASK, user};
use crate::{lockctl, text};

/// The complaints of the doctor with this URL, and its exit code.
#[track_caller]
fn complaints(server: &RedisServer, url: &str) -> (String, Option<i32>) {
    let (said, code) = told(server, url);
    let lines: Vec<String> = said
        .iter()
        .filter(|finding| finding["verdict"] != "ok")
        .map(|finding| {
            let field = |name: &str| finding[name].as_str().expect("a text").to_owned();
            let fields = ["verdict", "check", "value", "reason", "change"];
            fields.map(field).join(" ")
        })
        .collect();
    (lines.join("\n"), code)
}

/// Asserts that the doctor fails, and that one of its complaints has these words.
#[track_caller]
fn fails(server: &RedisServer, url: &str, words: &str) {
    let (said, code) = complaints(server, url);
    assert!(
        said.lines()
            .any(|line| line.starts_with("fail ") && line.contains(words)),
        "{words}: {said}"
    );
    assert!(matches!(code, Some(1 | 3 | 4)), "{words}: {code:?} {said}");
}

fn without(rights: &[&'static str], right: &str) -> Vec<&'static str> {
    let rights = rights.iter().copied();
    rights.filter(|of| *of != right).collect()
}

#[test]
fn each_missing_right_of_a_service_fails_and_is_named() {
    let server = fit();
    for right in RIGHTS.iter().filter(|right| **right != "resetchannels") {
        for more in [&[][..], TO_ASK] {
            let url = user(&server, &[&without(RIGHTS, right), more].concat());
            if ["+pubsub|numsub", "+xadd"].contains(right) {
                // No lock is refused without it.
                let (said, code) = complaints(&server, &url);
                assert!(said.contains(right), "{said}");
                assert_eq!(code, Some(0), "{said}");
                continue;
            }
            fails(&server, &url, right);
        }
    }
}

#[test]
fn full_server_fails_for_whoever_may_write() {
    let server = fit();
    let service = server.user("service", "s3cret", RIGHTS);
    let rights = [VIEWER_RIGHTS, OPERATOR_RIGHTS].concat();
    let operator = server.user("operator", "s3cret", &rights);
    server.config_set("maxmemory", "1");
    for url in [server.admin_url(), service, operator] {
        fails(&server, &url, "raise maxmemory");
    }
    let (said, _) = complaints(&server, &server.admin_url());
    assert!(said.contains("fail memory "), "{said}");
}

#[test]
fn server_without_scripts_fails() {
    for missing in ["EVAL", "EVALSHA"] {
        let server = RedisServer::builder().without(missing).start();
        fails(&server, &server.url(), &missing.to_lowercase());
    }
}

#[test]
fn lock_that_waits_for_replicas_fails_where_nobody_may_wait() {
    let server = fit();
    let replica = server.replica();
    server.wait_for_replica(&replica);
    let rights = [RIGHTS, REPLICA_RIGHTS].concat();
    for more in [&[][..], TO_ASK] {
        let url = |rights: &[&str]| format!("{}?wait_replicas=1", user(&server, rights));
        let (said, code) = complaints(&server, &url(&[&rights, more].concat()));
        assert_eq!(code, Some(0), "{said}");
        fails(&server, &url(&[RIGHTS, more].concat()), "+wait");
    }
    drop(replica);

    let server = RedisServer::builder().without("WAIT").start();
    let replica = server.replica();
    server.wait_for_replica(&replica);
    fails(
        &server,
        &format!("{}?wait_replicas=1", server.url()),
        "wait",
    );
}

/// A lock that is left behind would be busy for others.
#[test]
fn fit_server_has_nothing_left_of_the_trial() {
    let server = fit();
    let url = user(&server, RIGHTS);
    let (said, code) = told(&server, &url);
    assert_eq!(code, Some(0), "{said:?}");
    let trial = said.iter().find(|finding| finding["check"] == "trial");
    let value = |finding: &Value| finding["value"].as_str().map(str::to_owned);
    assert_eq!(
        trial.and_then(value).as_deref(),
        Some("a lock was taken, contended, handed off and shared, and is gone")
    );
    let mut connection = server.connection();
    let left: Vec<String> = harness::ask(&mut connection, &["KEYS", "*"]);
    assert_eq!(left, ["{lock:doctor}:f"]);
}

#[test]
fn command_under_a_lock_repeats_what_the_server_says() {
    let server = fit();
    for state in ServerState::ALL {
        let refusing = state.begin();
        let mut run = lockctl(&server, &["run", KEY, "--wait", "50ms", "--", "true"]);
        let output = run.env("LOCK_URL", &refusing.url).output().unwrap();
        let said = text(&output.stderr);
        assert!(
            state.words().iter().any(|words| said.contains(words)),
            "{state:?}: {said}"
        );
        assert_ne!(output.status.code(), Some(0), "{state:?}");
        let (said, code) = told(&server, &refusing.url);
        assert_ne!(code, Some(0), "{state:?}: {said:?}");
    }
}

/// The remedy is in the message that needs it.
#[tokio::test]
async fn revocation_on_a_full_server_names_the_way_without_an_audit() {
    let server = fit();
    let guard = hold(&client(server.admin_url())).await;
    let token = token_of(&guard).await.to_string();
    let rights = [VIEWER_RIGHTS, OPERATOR_RIGHTS].concat();
    let operator = server.user("operator", "s3cret", &rights);
    server.config_set("maxmemory", "1");
    let revoke = [
        "revoke", KEY, "--yes", "--token", &token, "--reason", "full",
    ];
    let revoked = |more: &[&str]| {
        let mut command = lockctl(&server, &[&revoke[..], more].concat());
        command.env("LOCK_URL", &operator).output().unwrap()
    };
    let refused = text(&revoked(&[]).stderr);
    for words in ["nothing was done", "--no-audit", "OOM command not allowed"] {
        assert!(refused.contains(words), "{refused}");
    }
    assert!(guard.is_valid());
    let done = revoked(&["--no-audit"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    server.config_set("maxmemory", "0");
    assert!(guard.release().await.unwrap_err().is_lost());
}
