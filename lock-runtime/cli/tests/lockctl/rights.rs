//! `lockctl acl`, and how `lockctl doctor` judges a user's rights.

use std::io::{Read, Write};
use std::net::TcpStream;

use harness::{
    CLUSTER_RIGHTS, KEY, OPERATOR_RIGHTS, QUORUM_RIGHTS, QUORUM_VIEWER_RIGHTS, REPLICA_RIGHTS,
    RIGHTS, RedisQuorum, RedisServer, Rights, VIEWER_RIGHTS, ask, patient,
};
use lock_runtime::LockRecord;
use serde_json::Value;

use crate::doctor::{fit, told};
use crate::{done, lockctl, text};

/// Makes a user with these rights, and returns its URL.
pub(crate) fn user(server: &RedisServer, rights: &[&str]) -> String {
    let user = ["ACL", "SETUSER", "app", "reset", "on", ">s3cret"];
    ask::<()>(&mut server.connection(), &[&user[..], rights].concat());
    format!("redis://app:s3cret@127.0.0.1:{}", server.port())
}

/// The finding of this check.
#[track_caller]
fn of<'a>(said: &'a [Value], check: &str) -> &'a Value {
    let finding = said.iter().find(|finding| finding["check"] == check);
    finding.unwrap_or_else(|| panic!("no {check} in {said:?}"))
}

/// The rights by which a user may ask for its own rights.
pub(crate) const TO_ASK: &[&str] = &["+info", "+acl|whoami", "+acl|dryrun"];

const ROLES: [(&str, &[&[&str]]); 3] = [
    ("service", &[RIGHTS]),
    ("viewer", &[VIEWER_RIGHTS]),
    ("operator", &[VIEWER_RIGHTS, OPERATOR_RIGHTS]),
];

#[test]
fn user_of_each_role_may_run_the_doctor() {
    let server = fit();
    for (role, rights) in ROLES {
        let line = rights_of(role, "redis://127.0.0.1");
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[..3], ["ACL", "SETUSER", role], "{line}");
        ask::<()>(&mut server.connection(), &words);
        let url = format!("redis://{role}:PASSWORD@127.0.0.1:{}", server.port());
        let (said, code) = told(&server, &url);
        assert_eq!(code, Some(0), "{role}: {said:?}");
        let article = if role == "operator" { "an" } else { "a" };
        let all = format!(" has all rights of {article} {role}");
        let value = of(&said, "rights")["value"].as_str().unwrap();
        assert_eq!(value, format!("the user{all}"));
        assert!(!harness::exists(&mut server.connection(), "lock:doctor"));
        let fences = of(&said, "fences");
        match role {
            "service" => assert_eq!(fences["value"], "not checked: needs +scan"),
            _ => assert_eq!(fences["verdict"], "ok", "{fences}"),
        }

        // With the right to ask, the user gets the answer from the server.
        let url = user(&server, &[&rights.concat(), TO_ASK].concat());
        let (said, code) = told(&server, &url);
        let value = of(&said, "rights")["value"].as_str().unwrap();
        assert_eq!(value, format!("user app{all}"));
        assert_eq!(code, Some(0), "{role}: {said:?}");
    }
}

#[test]
fn rights_without_a_prefix_are_accepted_by_servers() {
    let server = fit();
    for record in ["native", "redisson"] {
        let line = line_of(&["acl", "service", "--prefix", "", "--record", record]);
        ask::<()>(
            &mut server.connection(),
            &line.split_whitespace().collect::<Vec<_>>(),
        );
        let url = format!("redis://service:PASSWORD@127.0.0.1:{}", server.port());
        let run = [
            "run", "import", "--prefix", "", "--record", record, "--", "true",
        ];
        let output = lockctl(&server, &run)
            .env("LOCK_URL", url)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn requested_role_is_checked() {
    let server = fit();
    let viewer = VIEWER_RIGHTS;
    for more in [&[][..], TO_ASK] {
        let url = user(&server, &[viewer, more].concat());
        for (role, code) in [("viewer", 0), ("service", 1), ("operator", 1)] {
            let mut command = lockctl(&server, &["doctor", "--role", role]);
            let output = command.env("LOCK_URL", &url).output().unwrap();
            let said = text(&output.stdout);
            assert_eq!(output.status.code(), Some(code), "{role}: {said}");
            assert_eq!(said.contains("FAIL rights"), code == 1, "{role}: {said}");
        }
    }
}

#[test]
fn missing_right_is_named() {
    let server = fit();
    for (role, rights) in ROLES {
        let rights = rights.concat();
        let least = |missing: &str| {
            let rights = rights.iter().copied().filter(|right| *right != missing);
            let rights: Vec<&str> = rights.chain(TO_ASK.iter().copied()).collect();
            user(&server, &rights)
        };
        // Without the other patterns, the client cannot connect.
        let command = match role {
            "viewer" => "+zmscore",
            _ => "+zscore",
        };
        for missing in [command, "~lock:*", "~{lock:*"] {
            let url = least(missing);
            let mut command = lockctl(&server, &["doctor", "--json", "--role", role]);
            let output = command.env("LOCK_URL", &url).output().unwrap();
            let lines = text(&output.stdout);
            let said: Vec<Value> = lines
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            let found = of(&said, "rights");
            assert_eq!(found["verdict"], "fail", "{found}");
            let value = found["value"].as_str().unwrap();
            assert!(
                value.ends_with(&format!(" lacks {missing}")),
                "{role}: {value}"
            );
            assert_eq!(output.status.code(), Some(1), "{role}");
        }
    }
}

/// The user may not ask for its rights, so the doctor tries to read.
#[test]
fn missing_right_on_all_nodes_of_a_quorum_is_noticed() {
    let quorum = RedisQuorum::start();
    let rights = [VIEWER_RIGHTS, OPERATOR_RIGHTS, QUORUM_VIEWER_RIGHTS].concat();
    for (missing, verdict) in [("", "ok"), ("+xrange", "fail"), ("+scan", "fail")] {
        let rights = rights.iter().copied().filter(|right| *right != missing);
        let rights: Vec<&str> = rights.collect();
        for node in &quorum.nodes {
            user(node, &rights);
        }
        let url = quorum.url().replacen("://", "://app:s3cret@", 1);
        let (said, _) = told(&quorum.nodes[0], &url);
        assert_eq!(
            of(&said, "rights")["verdict"],
            verdict,
            "{missing}: {said:?}"
        );
    }
}

/// A user without the right to count subscribers still gets every lock.
#[test]
fn service_that_lacks_only_the_right_to_count_subscribers_is_warned() {
    let server = fit();
    let rights = RIGHTS.iter().filter(|right| **right != "+pubsub|numsub");
    let rights: Vec<&str> = rights.chain(TO_ASK).copied().collect();
    let (said, code) = told(&server, &user(&server, &rights));
    let found = of(&said, "rights");
    assert_eq!(found["verdict"], "warn", "{found}");
    assert_eq!(found["value"], "user app lacks +pubsub|numsub");
    assert_eq!(code, Some(0), "{said:?}");
}

#[test]
fn user_that_may_do_nothing_fails() {
    let server = fit();
    let url = user(
        &server,
        &["~lock:*", "resetchannels", "&lock:*", "+ping", "+subscribe"],
    );
    let (said, code) = told(&server, &url);
    let rights = of(&said, "rights");
    let value = rights["value"].as_str().unwrap();
    assert!(value.starts_with("the user lacks +"), "{value}");
    assert_eq!((&rights["verdict"], code), (&"fail".into(), Some(1)));
}

/// The line that `acl` prints.
#[track_caller]
fn rights_of(role: &str, url: &str) -> String {
    line_of(&["acl", role, "--url", url])
}

#[track_caller]
fn line_of(arguments: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lockctl"));
    let output = command.args(arguments).output().unwrap();
    text(&output.stdout)
}

/// The words of that line, without the user and the password.
#[track_caller]
fn sorted_rights_of(role: &str, url: &str) -> Vec<String> {
    let line = rights_of(role, url);
    let rest = line.strip_prefix(&format!("ACL SETUSER {role} reset on >PASSWORD "));
    let mut rights: Vec<String> = rest
        .expect(&line)
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    rights.sort_unstable();
    rights
}

fn sorted(rights: &[&str]) -> Vec<String> {
    let mut rights: Vec<String> = rights.iter().map(|right| (*right).to_owned()).collect();
    rights.sort_unstable();
    rights
}

#[test]
fn printed_rights_are_the_rights_that_tests_use() {
    for (url, rights) in [
        ("redis://127.0.0.1", Rights::of_server()),
        ("redis-sentinel://a#b", Rights::of_server()),
        (
            "rediss-cluster://127.0.0.1",
            Rights::with(CLUSTER_RIGHTS, CLUSTER_RIGHTS),
        ),
        (
            "redlock://a,b,c",
            Rights::with(QUORUM_RIGHTS, QUORUM_VIEWER_RIGHTS),
        ),
        (
            "redis://127.0.0.1?wait_replicas=1",
            Rights::with(REPLICA_RIGHTS, &[]),
        ),
    ] {
        assert_eq!(sorted_rights_of("service", url), sorted(&rights.service));
        assert_eq!(sorted_rights_of("viewer", url), sorted(&rights.viewer));
        assert_eq!(sorted_rights_of("operator", url), sorted(&rights.operator));
        // Surrounded by white space, as in a file.
        let padded = format!("\n {}\r\n", url.replacen("red", "RED", 1));
        assert_eq!(
            sorted_rights_of("service", &padded),
            sorted(&rights.service)
        );
    }
}

#[test]
fn printed_rights_in_the_record_of_redisson_are_the_rights_that_tests_use() {
    let words = |role| {
        let line = line_of(&["acl", role, "--record", "redisson"]);
        let words: Vec<&str> = line.split_whitespace().skip(6).collect();
        sorted(&words)
    };
    let rights = Rights::in_redissons_record();
    assert_eq!(words("service"), sorted(&rights.service));
    assert_eq!(words("viewer"), sorted(&rights.viewer));
    assert_eq!(words("operator"), sorted(&rights.operator));
}

/// The prefix is literal, even if it contains characters with a meaning in patterns.
#[test]
fn rights_with_pattern_characters_in_the_prefix_cover_only_its_locks() {
    let server = fit();
    let admin = &mut server.connection();
    let prefix = r"a*b?[c-e]\:";
    let kept = ["--prefix", prefix];
    for (role, work) in [
        ("service", &["run", KEY, "--", "true"][..]),
        ("viewer", &["list"]),
        ("operator", &["doctor"]),
    ] {
        let line = line_of(&[&["acl", role], &kept[..]].concat());
        let words: Vec<&str> = line.split_whitespace().collect();
        ask::<()>(admin, &words);
        let url = format!("redis://{role}:PASSWORD@127.0.0.1:{}", server.port());
        let mut command = lockctl(&server, &[&kept, work].concat());
        let output = command.env("LOCK_URL", url).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{role}: {output:?}");
        let may = |name: &str| {
            let question = ["ACL", "DRYRUN", role, "PTTL", name];
            ask::<String>(&mut server.connection(), &question) == "OK"
        };
        for [first, rest] in [["", KEY], ["{", "order:42}:f"]] {
            assert!(may(&format!("{first}{prefix}{rest}")), "{role}: {first}");
            for other in [
                r"axxb?[c-e]\:",
                r"a*bx[c-e]\:",
                r"a*b?d\:",
                r"a*b?[c-e]:",
                r"a*b?[c-e]x:",
            ] {
                let other = format!("{first}{other}{rest}");
                assert!(!may(&other), "{role}: {other}");
            }
        }
    }
}

#[test]
fn rights_are_printed_as_json() {
    let server = RedisServer::start();
    let output = done(&server, &["acl", "viewer", "--user", "ann", "--json"]);
    let said: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let line = said["command"].as_str().unwrap();
    assert!(
        line.starts_with("ACL SETUSER ann reset on >PASSWORD ~lock:*"),
        "{line}"
    );
}

/// The rights of a role are enough for its commands on locks in Redisson's record.
#[tokio::test]
async fn rights_in_the_record_of_redisson_are_enough() {
    let server = fit();
    let service = patient(server.admin_url())
        .prefix("")
        .record(LockRecord::Redisson)
        .build()
        .unwrap();
    let guard = service.lock("lock:import").acquire().await.unwrap();
    let kept = ["--record", "redisson", "--prefix", ""];
    let hash = {
        let mut command = lockctl(&server, &["inspect", "lock:import", "--json"]);
        command.args(kept).env("LOCK_URL", server.admin_url());
        let said: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        said["holders"][0]["record"].as_str().unwrap().to_owned()
    };
    let revoke = [
        "revoke",
        "lock:import",
        "--yes",
        "--reason",
        "test",
        "--hash",
        &hash,
    ];
    for (role, arguments) in [
        ("viewer", &["list"][..]),
        ("viewer", &["inspect", "lock:import"]),
        ("viewer", &["doctor"]),
        ("viewer", &["audit"]),
        ("operator", &["doctor"]),
        ("operator", &revoke),
        ("operator", &["audit"]),
        ("service", &["run", "lock:import", "--", "true"]),
        ("service", &["doctor"]),
    ] {
        let line = line_of(&[&["acl", role], &kept[..]].concat());
        ask::<()>(
            &mut server.connection(),
            &line.split_whitespace().collect::<Vec<_>>(),
        );
        let url = format!("redis://{role}:PASSWORD@127.0.0.1:{}", server.port());
        let mut command = lockctl(&server, &[&kept[..], arguments].concat());
        let output = command.env("LOCK_URL", url).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{role} {arguments:?}: {output:?}"
        );
    }
    drop(guard);
}

/// The line is sent to the server unchanged, as `redis-cli` sends a pasted line.
#[test]
fn line_for_any_prefix_is_accepted_by_the_server_or_refused() {
    let server = fit();
    for prefix in ["a\"b'c\\:", "it's:", "ü:\u{202e}", "\u{1b}[31m", "*\"?"] {
        let acl = ["acl", "operator", "--user", "an'n", "--prefix", prefix];
        let line = line_of(&acl);
        assert!(!line.contains(['\u{1b}', '\u{202e}']), "{line:?}");
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream
            .write_all(format!("{}\r\n", line.trim_end()).as_bytes())
            .unwrap();
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"+OK\r\n", "{line}");
        for (name, may) in [
            (format!("{prefix}order:42"), true),
            (format!("{{{prefix}order:42}}:f"), true),
            ("other:order:42".to_owned(), false),
        ] {
            let question = ["ACL", "DRYRUN", "an'n", "PTTL", &name];
            let answer: String = ask(&mut server.connection(), &question);
            assert_eq!(answer == "OK", may, "{name:?}: {answer}");
        }
    }
    for arguments in [
        ["--prefix", "my lock:"],
        ["--prefix", "a\tb:"],
        ["--prefix", "{a}:"],
        ["--user", "ann b"],
    ] {
        let output = done(&server, &[&["acl", "viewer"][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(text(&output.stdout), "");
    }
}
