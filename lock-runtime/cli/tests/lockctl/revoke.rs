//! `lockctl revoke`, as a person uses it and otherwise.

use harness::{RedisServer, ask, client};
use serde_json::Value;

use crate::{done, text};

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
