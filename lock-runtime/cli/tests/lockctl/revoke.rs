//! `lockctl revoke`, in a terminal and without one.

use harness::{LONG, RedisServer, ask, client, exists, patient, soon};
use serde_json::Value;

use crate::{done, lockctl, text};

#[tokio::test]
async fn revocation_without_audit_writes_no_line_and_prints_json() {
    let server = RedisServer::start();
    let service = client(server.url());
    for (options, lines) in [(&["--no-audit"][..], 0), (&[], 2)] {
        let guard = service.lock("import").acquire().await.unwrap();
        let token = guard.fencing_token().await.unwrap().to_string();
        let arguments = [
            "revoke", "import", "--yes", "--json", "--reason", "stuck", "--token",
        ];
        let output = done(&server, &[&arguments[..], &[&token], options].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let said: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
        assert_eq!(
            (&said["key"], &said["outcome"]),
            (&"import".into(), &"freed".into())
        );
        assert!(
            said["former_holder"].as_str().unwrap().contains("(pid "),
            "{said}"
        );
        assert_eq!(said["audited"], lines > 0, "{said}");
        assert_eq!(said.get("nodes"), None);
        assert!(guard.release().await.unwrap_err().is_lost());
        let length: usize = ask(&mut server.connection(), &["XLEN", "{lock:}:audit"]);
        assert_eq!(length, lines);
    }
    // The operator asked for none: that it is missing is not news.
    let guard = service.lock("import").acquire().await.unwrap();
    let token = guard.fencing_token().await.unwrap().to_string();
    let revoke = ["revoke", "import", "--yes", "--no-audit", "--reason", "x"];
    let output = done(&server, &[&revoke[..], &["--token", &token]].concat());
    let said = text(&output.stdout);
    assert!(
        said.starts_with("took lock ") && !said.contains("audit"),
        "{said}"
    );
}

#[tokio::test]
async fn operator_is_the_given_name_or_else_the_user_of_the_process() {
    let server = RedisServer::start();
    let service = client(server.url());
    let mut by = Vec::new();
    let nameless = ["SUDO_USER", "USER", "LOGNAME"];
    for (name, variables) in [
        (None, &[][..]),
        (None, &[("USER", "ann")]),
        (None, &[("USER", "ann"), ("LOCK_BY", "ci 7")]),
        (Some("bob"), &[("USER", "ann"), ("LOCK_BY", "ci 7")]),
    ] {
        let guard = service.lock("import").acquire().await.unwrap();
        let token = guard.fencing_token().await.unwrap().to_string();
        let revoke = [
            "revoke", "import", "--yes", "--reason", "x", "--token", &token,
        ];
        let mut command = lockctl(&server, &revoke);
        for name in nameless {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        if let Some(name) = name {
            command.args(["--by", name]);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        soon(guard.lost()).await;
        let lost = guard.release().await.unwrap_err().to_string();
        let (_, rest) = lost.split_once("revoked by ").expect(&lost);
        by.push(rest.split(": ").next().unwrap().to_owned());
    }
    let run = |program: &str, option: &str| {
        let output = std::process::Command::new(program).arg(option).output();
        text(&output.unwrap().stdout).trim().to_owned()
    };
    let (user, host) = (run("id", "-un"), run("uname", "-n"));
    let expected = [
        format!("{user}@{host}"),
        format!("ann@{host}"),
        "ci 7".into(),
        "bob".into(),
    ];
    assert_eq!(by, expected);
}

/// The locks of a process that hangs, among the locks of others: one of each kind, and one that cannot be taken.
#[tokio::test]
async fn locks_of_a_holder_are_listed_and_taken_one_by_one() {
    let server = RedisServer::start();
    let labelled = |label: &str| {
        let builder = patient(server.url()).label(label);
        builder.build().unwrap()
    };
    let (hung, other) = (labelled("api@7"), labelled("api@70"));
    let plain = hung.lock("a").acquire().await.unwrap();
    let broken = hung.lock("b").acquire().await.unwrap();
    let shared = hung.lock("c").read().acquire().await.unwrap();
    let handed = hung.lock("d").acquire().await.unwrap();
    let theirs = other.lock("e").acquire().await.unwrap();
    let waiting = tokio::spawn(other.lock("d").wait(LONG).acquire());
    harness::eventually("waiter", LONG, async || {
        other.inspect("d").await.unwrap().waiter_count() == 1
    })
    .await;
    // The queue of that lock has another type.
    let connection = &mut server.connection();
    ask::<()>(connection, &["SET", "{lock:b}:w", "no queue"]);

    let revoke = ["revoke", "--reason", "hangs", "--holder", "api@7"];
    let run = |options: &[&str]| {
        let output = done(&server, &[&revoke[..], options].concat());
        let lines = text(&output.stdout);
        let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        (output.status.code(), lines, text(&output.stderr))
    };
    // Without a terminal or `--yes`, and in a dry run, nothing is revoked.
    assert_eq!(run(&[]).0, Some(2));
    let (code, lines, _) = run(&["--dry-run"]);
    let keys: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!((code, &keys[..]), (Some(0), &["a", "b", "c", "d"][..]));
    assert!(!exists(connection, "{lock:}:audit"));
    assert!(plain.is_valid() && theirs.is_valid());

    let (code, lines, complaint) = run(&["--yes"]);
    assert_eq!(code, Some(4), "{lines:?} {complaint}");
    let said = lines.join("\n");
    for text in [
        "took lock `a` from api@7 (pid ",
        "took lock `c` from shared: api@7 (pid ",
        "took lock `d` from api@7 (pid ",
        "a waiter has it now",
        "lock `b`: ",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    // The locks are listed first.
    assert!(complaint.starts_with("a  "), "{complaint}");
    assert!(complaint.contains("All holders of a shared lock lose it."));
    assert!(
        complaint.ends_with("lockctl: 1 of 4 locks were not taken\n"),
        "{complaint}"
    );
    for guard in [plain, shared, handed] {
        soon(guard.lost()).await;
        let lost = guard.release().await.unwrap_err().to_string();
        assert!(lost.contains(": hangs (operation "), "{lost}");
    }
    assert!(theirs.is_valid() && broken.is_valid());
    waiting.await.unwrap().unwrap().release().await.unwrap();
    // Each lock has an intention and an outcome.
    let audit = text(&done(&server, &["audit", "--json"]).stdout);
    let outcomes = |key: &str| -> Vec<String> {
        let lines = audit
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let of_key = lines.filter(|line: &Value| line["key"] == key);
        of_key
            .map(|line| line["outcome"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(outcomes("a"), ["intended", "freed"]);
    assert_eq!(outcomes("d"), ["intended", "handed_off"]);
    assert_eq!(outcomes("b"), ["intended", "failed"]);
    assert!(outcomes("e").is_empty());

    let (code, lines, _) = run(&["--yes", "--json"]);
    let line: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(
        (code, &line["key"], &line["outcome"]),
        (Some(4), &"b".into(), &"failed".into())
    );
    assert!(line["error"].is_string(), "{line}");

    // The queue is repaired, and the remaining lock is taken with JSON output.
    ask::<()>(connection, &["DEL", "{lock:b}:w"]);
    let (code, lines, _) = run(&["--yes", "--json"]);
    let line: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(
        (code, &line["key"], &line["outcome"]),
        (Some(0), &"b".into(), &"freed".into())
    );
    assert!(broken.release().await.unwrap_err().is_lost());
    let (code, lines, complaint) = run(&["--yes"]);
    assert_eq!((code, lines.len()), (Some(1), 0));
    assert!(
        complaint.contains("no lock is held by `api@7`"),
        "{complaint}"
    );
}

/// A record of another program has no label.
#[test]
fn holder_without_a_label_is_described_in_words() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    ask::<()>(connection, &["SET", "lock:import", "mine", "PX", "60000"]);
    let inspected = text(&done(&server, &["inspect", "import", "--json"]).stdout);
    let inspected: Value = serde_json::from_str(&inspected).unwrap();
    let hash = inspected["holders"][0]["record"].as_str().unwrap();
    let revoke = [
        "revoke", "import", "--yes", "--reason", "gone", "--hash", hash,
    ];
    let said = text(&done(&server, &revoke).stdout);
    let took = "took lock `import` from a holder without a label: it is free (operation ";
    assert!(said.starts_with(took), "{said}");
    let said = text(&done(&server, &["audit"]).stdout);
    assert!(said.contains(" revoke `import`, by "), "{said}");
}
