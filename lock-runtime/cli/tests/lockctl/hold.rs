//! `lockctl hold`.

use harness::{LONG, RawLock, RedisServer, ask, wait_until};
use rustix::process::Signal;

use crate::{Running, done, lockctl, text};

const HOLD: [&str; 6] = ["hold", "import", "--for", "10m", "--reason", "new disks"];

#[test]
fn lock_is_held_until_a_signal() {
    let server = RedisServer::start();
    let mut lock = RawLock::new(&server, "import");
    for signal in [Signal::TERM, Signal::INT] {
        let mut running = Running::start(lockctl(&server, &HOLD));
        let said = running.lines().next().expect("it holds the lock");
        assert!(
            said.starts_with("holding `import` for 10m with token "),
            "{said}"
        );
        let record = lock.value().expect("it holds the lock");
        assert!(record.contains(": new disks (pid "), "{record}");
        running.send(signal);
        assert_eq!(running.ended().code(), Some(0));
        assert_eq!(lock.value(), None);
    }
}

#[test]
fn lock_is_released_after_the_time() {
    let server = RedisServer::start();
    let output = done(
        &server,
        &[
            "hold", "import", "--for", "50ms", "--reason", "test", "--json",
        ],
    );
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stdout);
    assert!(said.starts_with(r#"{"key":"import","token":1"#), "{said}");
    assert!(said.ends_with(",\"hold_ms\":50}\n"), "{said}");
    assert_eq!(RawLock::new(&server, "import").value(), None);
}

#[test]
fn busy_lock_and_lost_lock_have_their_exit_codes() {
    let server = RedisServer::start();
    let mut running = Running::start(lockctl(&server, &HOLD));
    running.lines().next().expect("it holds the lock");
    let output = done(&server, &[&HOLD[..], &["--wait", "0s"]].concat());
    assert_eq!(output.status.code(), Some(5));
    assert!(text(&output.stderr).contains("new disks"));

    // The holder would notice a deleted lock only at the next renewal, ten seconds later, so the server is stopped.
    ask::<()>(&mut server.connection(), &["DEL", "lock:import"]);
    ask::<()>(
        &mut server.connection(),
        &["CLIENT", "KILL", "TYPE", "normal"],
    );
    let mut ended = None;
    wait_until("end of lockctl", LONG, || {
        ended = running.0.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.unwrap().code(), Some(5));
}

#[test]
fn signal_ends_it_while_it_connects() {
    let server = RedisServer::start();
    // It accepts connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", silent.local_addr().unwrap());
    let run = ["run", "import", "--", "echo", "ran"];
    for (arguments, signal, code) in [
        (&HOLD[..], Signal::INT, 130),
        (&HOLD, Signal::TERM, 143),
        (&run, Signal::INT, 130),
        (&run, Signal::TERM, 143),
    ] {
        let options = ["--url", &url, "--timeout", "10m"];
        let mut running = Running::start(lockctl(&server, &[&options, arguments].concat()));
        let _connection = silent.accept().unwrap();
        running.send(signal);
        assert_eq!(running.ended().code(), Some(code));
    }
}
