//! The stepped clock: a server's time, leases and expiries depend on it alone.

use std::process::Command;
use std::time::{Duration, Instant};

use harness::{Clock, PATIENCE, RedisServer, ask, ms, wait_until};
use redis::Connection;

const HOUR: Duration = Duration::from_secs(3600);

/// The most that a busy machine adds to an hour, in µs.
const MINUTE: i64 = 60_000_000;

fn time(connection: &mut Connection) -> i64 {
    let (seconds, micros): (i64, i64) = ask(connection, &["TIME"]);
    seconds * 1_000_000 + micros
}

fn is_near(time: i64, other: i64) -> bool {
    (other..other + MINUTE).contains(&time)
}

#[test]
fn a_step_moves_the_time_and_the_leases_of_a_running_server() {
    let server = RedisServer::builder().own_clock().start();
    let mut connection = server.connection();
    let _: () = ask(&mut connection, &["SET", "key", "x", "PX", "7200000"]);
    let start = time(&mut connection);

    server.forward(HOUR);
    assert!(is_near(time(&mut connection), start + 60 * MINUTE));
    let rest: i64 = ask(&mut connection, &["PTTL", "key"]);
    assert!((3_500_000..=3_600_000).contains(&rest), "{rest}");

    server.forward(HOUR + ms(10));
    let value: Option<String> = ask(&mut connection, &["GET", "key"]);
    assert_eq!(value, None, "its lease was over");

    server.back(2 * HOUR);
    assert!(is_near(time(&mut connection), start));
}

#[test]
fn a_stopped_clock_moves_only_when_it_is_stepped() {
    let server = RedisServer::builder().own_clock().start();
    let mut connection = server.connection();
    server.stop_clock();
    let stopped = server.clock().now();

    let _: () = ask(&mut connection, &["SET", "key", "x", "PX", "10"]);
    let start = Instant::now();
    wait_until("50 ms later", PATIENCE, || start.elapsed() > ms(50));
    assert!((time(&mut connection) - stopped).abs() < 5_000);
    let value: Option<String> = ask(&mut connection, &["GET", "key"]);
    assert_eq!(value.as_deref(), Some("x"), "no time has passed");

    server.forward(ms(20));
    assert_eq!(server.clock().now(), stopped + 20_000);
    assert!((time(&mut connection) - stopped - 20_000).abs() < 5_000);
    let value: Option<String> = ask(&mut connection, &["GET", "key"]);
    assert_eq!(value, None, "its lease was over");
}

#[test]
fn a_set_clock_survives_a_restart() {
    let mut server = RedisServer::builder().own_clock().start();
    let start = time(&mut server.connection());
    server.forward(HOUR);
    server.restart_empty();
    assert!(is_near(time(&mut server.connection()), start + 60 * MINUTE));
}

#[test]
fn any_other_process_can_use_the_clock() {
    let clock = Clock::new();
    let mut date = Command::new("date");
    clock.rule(date.arg("+%s"));
    let mut seconds = || {
        let output = date.output().expect("there is a `date`");
        let text = String::from_utf8(output.stdout).expect("digits");
        text.trim().parse::<i64>().expect("digits")
    };
    let start = seconds();
    clock.forward(HOUR);
    assert!(is_near(seconds() * 1_000_000, (start + 3600) * 1_000_000));
}
