//! Arguments, exit codes, and secrets that are never shown.

use harness::{RedisServer, ask, shows_secret, urls_with_secrets};

use crate::{done, lockctl, text};

#[test]
fn wrong_arguments_fail_and_help_succeeds() {
    let server = RedisServer::start();
    for (arguments, code) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&[], 2),
        (&["rum"], 2),
        (&["run", "import"], 2),
        (&["run", "import", "--wait", "soon", "--", "true"], 2),
        (&["run", "", "--", "true"], 2),
        (&["hold", "import", "--for", "1s"], 2),
        (&["inspect", ""], 2),
        (&["run", "--", "true"], 2),
        (&["acl", "viewer", "--url", "redis-clutser://a"], 2),
        (&["list", "--password-file", "/none"], 2),
    ] {
        let output = done(&server, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    }
    let output = done(&server, &["rum"]);
    assert!(text(&output.stderr).contains("run"), "it suggests");
}

#[test]
fn server_that_is_away_is_unreachable_and_its_password_is_not_shown() {
    let server = RedisServer::start();
    let mut command = lockctl(&server, &["run", "import", "--wait", "0s", "--", "true"]);
    command.env("LOCK_URL", "redis://ops:s3cret@127.0.0.1:1");
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.starts_with("lockctl: "), "{said}");
    assert!(said.contains("127.0.0.1:1"), "{said}");
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn secrets_of_urls_are_not_shown() {
    let server = RedisServer::start();
    for (number, url) in urls_with_secrets().step_by(37).enumerate() {
        let command = ["list", "doctor"][number % 2];
        let mut command = lockctl(&server, &[command, "--timeout", "10ms"]);
        let output = command.env("LOCK_URL", &url).output().unwrap();
        assert_ne!(output.status.code(), Some(0), "{url}");
        let said = text(&output.stderr) + &text(&output.stdout);
        assert!(!said.is_empty() && !shows_secret(&said), "{url}: {said}");
    }
}

#[test]
fn wrong_password_is_refused() {
    let server = RedisServer::start();
    let mut command = lockctl(&server, &["run", "import", "--", "true"]);
    let url = format!("redis://nobody:s3cret@127.0.0.1:{}", server.port());
    let output = command.env("LOCK_URL", url).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn key_that_begins_with_a_dash_is_locked() {
    let server = RedisServer::start();
    let run = ["run", "--", "-x", "--", "sh", "-c", "echo $LOCK_KEY"];
    let output = done(&server, &run);
    assert_eq!(text(&output.stdout), "-x\n", "{output:?}");
}

/// A password is neither among the arguments nor in the environment, which a command under a lock would inherit.
#[test]
fn password_comes_from_a_file() {
    let server = RedisServer::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    let rights = ["on", ">s3cret", "~*", "&*", "+@all"];
    ask::<()>(
        &mut server.connection(),
        &[&["ACL", "SETUSER", "ops"], &rights[..]].concat(),
    );
    let url = format!("redis://ops@127.0.0.1:{}", server.port());
    for (content, code) in [("s3cret\n", 0), ("ops\ns3cret\n", 0), ("other\n", 4)] {
        std::fs::write(&file, content).unwrap();
        let mut command = lockctl(&server, &["list", "--url", &url]);
        let output = command.env("LOCK_PASSWORD_FILE", &file).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{content:?}: {said}");
        assert!(!said.contains(content.trim()), "{said}");
    }
}
