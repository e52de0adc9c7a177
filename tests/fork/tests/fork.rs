//! A forked child has its parent's memory but not its threads. It must neither wait for those
//! threads, nor use its parent's locks and connections.

use std::collections::BTreeSet;

use harness::{KEY, LOCK, Monitor, PATIENCE, RedisServer, Worker, ask};

#[test]
fn a_forked_child_gets_errors_and_its_parents_lock_is_untouched() {
    let server = RedisServer::start();
    let mut monitor = server.monitor();
    let parent = Worker::spawn(env!("CARGO_BIN_EXE_lock-fork"), &[&server.url()]);
    gets_errors(&server, parent, &mut monitor);
}

/// Their process ids are equal.
#[cfg(target_os = "linux")]
#[test]
fn a_child_that_is_process_1_like_its_parent_gets_errors() {
    let namespace = [
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--kill-child",
    ];
    let tried = std::process::Command::new("unshare")
        .args(namespace)
        .arg("true")
        .output();
    if !tried.as_ref().is_ok_and(|tried| tried.status.success()) {
        println!("namespaces: not tested, since `unshare` may not make any: {tried:?}");
        return;
    }
    let server = RedisServer::start();
    let mut monitor = server.monitor();
    let url = server.url();
    let program = [env!("CARGO_BIN_EXE_lock-fork"), &url, "namespace"];
    let parent = Worker::spawn("unshare", &[&namespace[..], &program].concat());
    gets_errors(&server, parent, &mut monitor);
}

fn gets_errors(server: &RedisServer, mut parent: Worker, monitor: &mut Monitor) {
    let line = || parent.line(PATIENCE).expect("it does not hang");
    for refused in [
        "takes a lock",
        "tries a lock",
        "takes its parent's",
        "makes a client",
        "makes a store in memory",
        "awaits a lock",
        "renews its parent's",
        "enters its parent's",
    ] {
        assert_eq!(line(), format!("child {refused}: Shutdown"));
    }
    assert_eq!(line(), "child shuts down: done");
    assert_eq!(line(), "parent's child: ended well");
    assert_eq!(line(), "parent's lock: held");
    assert_eq!(line(), "parent releases: ()");
    assert!(parent.ended(PATIENCE).success());

    let left: i64 = ask(&mut server.connection(), &["EXISTS", LOCK]);
    assert_eq!(left, 0);
    // One owner, and no other key.
    let scripts = monitor.take();
    let sent = scripts
        .iter()
        .filter(|command| command.name.starts_with("EVAL"));
    assert!(sent.clone().count() > 3, "it was not renewed");
    let strange: Vec<_> = sent.filter(|command| !command.text.contains(KEY)).collect();
    assert!(strange.is_empty(), "{strange:#?}");
}

/// The child has the same socket. Its writes would reach the server as further commands, and its reads
/// would take its parent's answers.
#[test]
fn a_child_in_its_parents_runtime_does_not_use_the_connection() {
    for _ in 0..3 {
        let server = RedisServer::start();
        let mut monitor = server.monitor();
        let arguments = [&*server.url(), "runtime"];
        let mut parent = Worker::spawn(env!("CARGO_BIN_EXE_lock-fork"), &arguments);
        for expected in [
            "child awaits a lock: Shutdown",
            "parent's child: ended well",
            "parent releases: ()",
            "parent releases: ()",
        ] {
            let line = parent.line(PATIENCE).expect("it does not hang");
            assert_eq!(line, expected);
        }
        assert!(parent.ended(PATIENCE).success());
        let commands = monitor.take();
        let acquires = commands.iter().filter(|command| command.name == "SET");
        let acquires: Vec<_> = acquires.map(|command| &command.text).collect();
        let each: BTreeSet<_> = acquires.iter().collect();
        assert_eq!(acquires.len(), each.len(), "sent twice: {commands:#?}");
        assert!(acquires.len() >= 2, "{commands:#?}");
        let subscriptions = commands
            .iter()
            .filter(|command| command.name == "SUBSCRIBE");
        assert_eq!(subscriptions.count(), 1, "{commands:#?}");
    }
}

/// The lease belongs to the parent, which uses it again without a command.
#[test]
fn a_child_does_not_release_a_retained_lease() {
    let server = RedisServer::start();
    let arguments = [&*server.url(), "retained"];
    let mut parent = Worker::spawn(env!("CARGO_BIN_EXE_lock-fork"), &arguments);
    for expected in [
        "child takes what is retained: Shutdown",
        "child drops its client: done",
        "parent's child: ended well",
        "parent's next turn: 1",
    ] {
        let line = parent.line(PATIENCE).expect("it does not hang");
        assert_eq!(line, expected);
    }
    assert!(parent.ended(PATIENCE).success());
    let left: i64 = ask(&mut server.connection(), &["EXISTS", LOCK]);
    assert_eq!(left, 0);
}
