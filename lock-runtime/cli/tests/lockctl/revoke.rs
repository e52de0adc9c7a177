//! `lockctl revoke`, as a person uses it and otherwise.

use harness::{LONG, RedisServer, ask, client};
use serde_json::Value;

use crate::watch::Terminal;
use crate::{done, text};

#[tokio::test]
async fn key_is_typed_in_a_terminal() {
    let server = RedisServer::start();
    let service = client(server.url());
    let guard = service.lock("order:42").acquire().await.unwrap();
    let program = env!("CARGO_BIN_EXE_lockctl");
    let line = r#""$0" revoke order:42 --reason stuck; echo "ended $?"; read a"#;
    let dialogue = |typed: &str| {
        let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
        terminal.shows("lock `order:42` is held");
        terminal.shows(&format!("token {}", guard.fencing_token()));
        terminal.shows("Only a resource that checks tokens is safe");
        terminal.shows("Type the key to take the lock from its holder:");
        terminal.press(&["-l", typed]);
        terminal.press(&["Enter"]);
        terminal
    };
    let terminal = dialogue("order:43");
    terminal.shows("Nothing was done.");
    terminal.shows("ended 1");
    assert!(guard.is_valid());
    let terminal = dialogue("order:42");
    terminal.shows("took lock `order:42` from ");
    terminal.shows("ended 0");
    tokio::time::timeout(LONG, guard.lost()).await.unwrap();
    let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
    terminal.shows("lock `order:42` is free");
    terminal.shows("ended 1");
}

#[tokio::test]
async fn sharers_are_told_of_before_and_lose_the_lock_together() {
    let server = RedisServer::start();
    let service = client(server.url());
    let one = service.lock("order:42").read().acquire().await.unwrap();
    let other = service.lock("order:42").read().acquire().await.unwrap();
    let program = env!("CARGO_BIN_EXE_lockctl");
    let line = r#""$0" revoke order:42 --reason stuck; echo "ended $?"; read a"#;
    let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
    terminal.shows("All who share the lock lose it.");
    terminal.press(&["-l", "order:42"]);
    terminal.press(&["Enter"]);
    terminal.shows("ended 0");
    for guard in [one, other] {
        tokio::time::timeout(LONG, guard.lost()).await.unwrap();
    }
}

#[tokio::test]
async fn revocation_without_audit_leaves_no_line_and_is_an_object_for_a_program() {
    let server = RedisServer::start();
    let service = client(server.url());
    for (options, lines) in [(&["--no-audit"][..], 0), (&[], 2)] {
        let guard = service.lock("import").acquire().await.unwrap();
        let token = guard.fencing_token().to_string();
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
}

#[test]
fn reason_that_says_nothing_is_a_mistake() {
    let server = RedisServer::start();
    for reason in ["", "  "] {
        let arguments = [
            "revoke", "import", "--yes", "--token", "16", "--reason", reason,
        ];
        let output = done(&server, &arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains("reason"), "{output:?}");
    }
}
