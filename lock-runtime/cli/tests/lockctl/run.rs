//! `lockctl run`.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use harness::{LONG, RawLock, RedisServer, ask, wait_until};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::{Running, done, lockctl, text};

/// `lockctl run` of a shell's line.
fn sh(server: &RedisServer, options: &[&str], line: &str) -> Command {
    let arguments = [&["run", "import"], options, &["--", "sh", "-c", line]].concat();
    lockctl(server, &arguments)
}

#[test]
fn command_runs_while_the_lock_is_held_and_has_the_token() {
    let server = RedisServer::start();
    let line = "echo $LOCK_KEY $LOCK_TOKEN; cat";
    let mut running = Running::start({
        let mut command = sh(&server, &[], line);
        command.stdin(std::process::Stdio::piped());
        command
    });
    let said = running.lines().next().expect("it runs");
    let mut lock = RawLock::new(&server, "import");
    let record = lock.value().expect("it holds the lock");
    let (key, token) = said.split_once(' ').expect("a key and a token");
    assert_eq!((key, token), ("import", &record[23..39]));
    drop(running.0.stdin.take());
    assert!(running.ended().success());
    assert_eq!(lock.value(), None, "it is released");
}

#[test]
fn exit_code_is_the_commands() {
    let server = RedisServer::start();
    for (line, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -9 $$", 137),
        ("kill -15 $$", 143),
    ] {
        let output = sh(&server, &[], line).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
    }
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("data");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    for (program, code) in [("/no/such/program", 127), (file, 126)] {
        let output = done(&server, &["run", "import", "--", program]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(program), "{said}");
    }
    assert_eq!(RawLock::new(&server, "import").value(), None);
}

#[test]
fn busy_lock_has_its_own_exit_code_and_may_be_skipped() {
    let server = RedisServer::start();
    let mut holder = Running::start(sh(&server, &[], "echo in; sleep 600"));
    assert_eq!(holder.lines().next().as_deref(), Some("in"));
    let output = sh(&server, &["--wait", "0s"], "echo ran").output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(75), "{said}");
    assert!(said.contains("is busy: held by"), "{said}");
    assert!(said.contains(" run sh"), "it names the command: {said}");
    let skipped = sh(&server, &["--wait", "0s", "--skip"], "echo ran");
    let output = { skipped }.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        (text(&output.stdout), text(&output.stderr)),
        Default::default()
    );
    holder.send(Signal::TERM);
    assert_eq!(holder.ended().code(), Some(143));
    assert_eq!(RawLock::new(&server, "import").value(), None);
}

#[test]
fn signals_go_to_the_command() {
    let server = RedisServer::start();
    for (signal, name) in [
        (Signal::HUP, "HUP"),
        (Signal::INT, "INT"),
        (Signal::QUIT, "QUIT"),
        (Signal::TERM, "TERM"),
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
    ] {
        let line = format!("trap 'echo got; exit 3' {name}; echo in; while :; do sleep 0.05; done");
        let mut running = Running::start(sh(&server, &[], &line));
        let mut lines = running.lines();
        assert_eq!(lines.next().as_deref(), Some("in"), "{name}");
        running.send(signal);
        assert_eq!(lines.next().as_deref(), Some("got"), "{name}");
        assert_eq!(running.ended().code(), Some(3), "{name}");
    }
}

#[test]
fn command_is_ended_when_the_lock_is_lost() {
    let server = RedisServer::start();
    let line = "trap 'echo ended; exit 0' TERM; echo in; while :; do sleep 0.05; done";
    let mut running = Running::start(sh(&server, &["--ttl", "1s"], line));
    let mut lines = running.lines();
    assert_eq!(lines.next().as_deref(), Some("in"));
    ask::<()>(&mut server.connection(), &["DEL", "lock:import"]);
    assert_eq!(lines.next().as_deref(), Some("ended"));
    assert_eq!(running.ended().code(), Some(76));
}

#[test]
fn command_that_ignores_its_end_is_killed() {
    let server = RedisServer::start();
    let line = "trap '' TERM; echo in $$; while :; do sleep 0.05; done";
    let mut running = Running::start(sh(&server, &["--ttl", "1s"], line));
    let said = running.lines().next().expect("it runs");
    let pid = said.strip_prefix("in ").expect("the shell prints its id");
    ask::<()>(&mut server.connection(), &["DEL", "lock:import"]);
    assert_eq!(running.ended().code(), Some(76));
    let process = format!("/proc/{pid}");
    wait_until("end of the command", LONG, || {
        !std::path::Path::new(&process).exists()
    });
}

/// A stream whose buffer is full, and its reader.
fn full_stream() -> (UnixStream, OwnedFd) {
    let (reader, mut writer) = UnixStream::pair().unwrap();
    writer.set_nonblocking(true).unwrap();
    while writer.write(&[b'.'; 1_024]).is_ok() {}
    while writer.write(b".").is_ok() {}
    writer.set_nonblocking(false).unwrap();
    (reader, writer.into())
}

#[test]
fn command_is_ended_although_nobody_reads_the_output() {
    let server = RedisServer::start();
    let (mut reader, full) = full_stream();
    let mut command = sh(
        &server,
        &["--ttl", "1s"],
        "exec 2>&-; echo in $$; while :; do sleep 0.05; done",
    );
    let child = command.stdout(Stdio::piped()).stderr(full).spawn();
    let mut running = Running(child.unwrap());
    drop(command);
    let said = running.lines().next().expect("it runs");
    let pid = said.strip_prefix("in ").expect("the shell prints its id");
    ask::<()>(&mut server.connection(), &["DEL", "lock:import"]);
    wait_until("end of the command", LONG, || !runs(pid));
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    assert!(
        said.trim_matches('.')
            .starts_with("lockctl: lock `import` "),
        "{said}"
    );
    assert_eq!(running.ended().code(), Some(76));
}

#[test]
fn operator_and_reason_of_a_revocation_are_printed() {
    let server = RedisServer::start();
    let mut running = Running::start(sh(&server, &[], "echo $LOCK_TOKEN; sleep 600"));
    let token = running.lines().next().expect("it runs");
    let arguments = [
        "revoke",
        "import",
        "--yes",
        "--reason",
        "new disks",
        "--token",
    ];
    let output = done(&server, &[&arguments[..], &[&token]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut said = String::new();
    let mut errors = running.0.stderr.take().unwrap();
    errors.read_to_string(&mut said).unwrap();
    assert_eq!(running.ended().code(), Some(76));
    assert_eq!(said.matches("revoked by ").count(), 1, "{said}");
    assert_eq!(said.matches("new disks").count(), 1, "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn signal_while_waiting_leaves_the_queue() {
    let server = RedisServer::start();
    let mut holder = Running::start(sh(&server, &[], "echo in; sleep 600"));
    assert_eq!(holder.lines().next().as_deref(), Some("in"));
    let mut lock = RawLock::new(&server, "import");
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let mut waiter = Running::start(sh(&server, &["--wait", "10m"], "echo ran"));
        wait_until("waiter in the queue", LONG, || !lock.queue().is_empty());
        // The signal does not affect a process that waits.
        waiter.send(Signal::USR1);
        waiter.send(signal);
        assert_eq!(waiter.ended().code(), Some(code));
        assert_eq!(lock.queue(), "", "it left the queue");
    }
}

/// A shell that its child outlives: the child prints its id, and runs for longer than any test.
const LEAVES_ONE: &str =
    "sh -c 'trap \"\" TERM INT HUP; echo in $$; while :; do sleep 0.05; done' & wait";

/// Returns whether a process runs; `false` for a zombie.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

#[test]
fn signal_that_was_ignored_stays_ignored() {
    let server = RedisServer::start();
    // Starts the program like `nohup`. The command would print the signal.
    let line =
        "trap 'echo hup' HUP; trap 'echo got; exit 3' TERM; echo in; while :; do sleep 0.05; done";
    let program = env!("CARGO_BIN_EXE_lockctl");
    let start = r#"trap "" HUP; exec "$0" run import -- sh -c "$1""#;
    let mut command = Command::new("sh");
    command.args(["-c", start, program, line]);
    command
        .env("LOCK_URL", server.url())
        .env_remove("LOCK_PREFIX");
    let mut running = Running::start(command);
    let mut lines = running.lines();
    assert_eq!(lines.next().as_deref(), Some("in"));
    running.send(Signal::HUP);
    running.send(Signal::TERM);
    assert_eq!(lines.next().as_deref(), Some("got"));
    assert_eq!(running.ended().code(), Some(3));

    // The same while it waits.
    let mut holder = Running::start(sh(&server, &[], "echo in; sleep 600"));
    assert_eq!(holder.lines().next().as_deref(), Some("in"));
    let mut command = Command::new("sh");
    command.args(["-c", start, program, "echo ran"]);
    command
        .env("LOCK_URL", server.url())
        .env_remove("LOCK_PREFIX");
    let mut waiter = Running::start(command);
    let mut lock = RawLock::new(&server, "import");
    wait_until("waiter in the queue", LONG, || !lock.queue().is_empty());
    waiter.send(Signal::HUP);
    holder.send(Signal::TERM);
    assert_eq!(waiter.lines().next().as_deref(), Some("ran"));
    assert_eq!(waiter.ended().code(), Some(0));
}

#[test]
fn processes_of_a_command_are_gone_before_its_lock_is_free() {
    let server = RedisServer::start();
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut running = Running::start(sh(&server, &[], LEAVES_ONE));
        let said = running.lines().next().expect("it runs");
        let pid = said.strip_prefix("in ").expect("the shell prints its id");
        let mut lock = RawLock::new(&server, "import");
        running.send(signal);
        wait_until("release", LONG, || {
            let is_held = lock.value().is_some();
            assert!(is_held || !runs(pid), "the lock is free, and {pid} runs");
            !is_held
        });
        assert!(!runs(pid));
        assert_eq!(running.ended().code(), Some(code));
    }
}

#[test]
fn processes_of_a_command_get_its_signals() {
    let server = RedisServer::start();
    let line = "sh -c 'trap \"echo got; exit\" TERM; echo in; while :; do sleep 0.05; done' & wait";
    let mut running = Running::start(sh(&server, &[], line));
    let mut lines = running.lines();
    assert_eq!(lines.next().as_deref(), Some("in"));
    running.send(Signal::TERM);
    assert_eq!(lines.next().as_deref(), Some("got"));
    assert_eq!(running.ended().code(), Some(143));
}

#[test]
fn processes_of_a_command_are_killed_when_the_lock_is_lost() {
    let server = RedisServer::start();
    let mut running = Running::start(sh(&server, &["--ttl", "1s"], LEAVES_ONE));
    let said = running.lines().next().expect("it runs");
    let pid = said.strip_prefix("in ").expect("the shell prints its id");
    ask::<()>(&mut server.connection(), &["DEL", "lock:import"]);
    assert_eq!(running.ended().code(), Some(76));
    assert!(!runs(pid), "{pid} runs");
}

#[test]
fn processes_that_a_command_leaves_behind_do_not_hold_the_lock() {
    let server = RedisServer::start();
    let line = "sleep 600 >/dev/null 2>&1 & echo $!";
    let mut running = Running::start(sh(&server, &[], line));
    let pid = running.lines().next().expect("it runs");
    assert_eq!(running.ended().code(), Some(0));
    assert_eq!(RawLock::new(&server, "import").value(), None);
    assert!(runs(&pid), "{pid} has ended");
    let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
}

/// A read stops the command until it has the terminal, even if the signal for that is ignored, as in a tmux window:
/// otherwise the read would fail.
#[test]
fn command_that_asks_for_the_terminal_is_stopped_and_gets_no_error() {
    let server = RedisServer::start();
    let start = r#"trap "" TTIN; exec "$0" run import -- grep SigIgn /proc/self/status"#;
    let mut command = Command::new("sh");
    command.args(["-c", start, env!("CARGO_BIN_EXE_lockctl")]);
    command
        .env("LOCK_URL", server.url())
        .env_remove("LOCK_PREFIX");
    let output = command.output().unwrap();
    let said = text(&output.stdout);
    let mask = said.strip_prefix("SigIgn:").expect("the system is Linux");
    let mask = u64::from_str_radix(mask.trim(), 16).expect("it is a mask");
    let signal = Signal::TTIN.as_raw();
    assert_eq!(mask >> (signal - 1) & 1, 0, "it is ignored: {mask:x}");
}
