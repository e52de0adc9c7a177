//! A server that forgets its scripts, or cannot run any for a while.

use super::*;

rows! {
    E scripts_flushed;
    E server_busy on soon_busy;
    E server_loading on slow_to_load;
}

fn slow_to_load() -> RedisServer {
    RedisServer::builder()
        .config("loading-process-events-interval-bytes", "1024")
        // µs per key.
        .config("key-load-delay", "500")
        .start()
}

/// A server that counts as busy after 50 ms of a script.
fn soon_busy() -> RedisServer {
    let server = RedisServer::builder();
    server.config("busy-reply-threshold", "50").start()
}

/// SCRIPT FLUSH, as fast as it can be sent.
fn scripts_flushed(round: &mut Round<'_>) {
    round.hammer(&["plain"; 3], LONG, Duration::from_secs(1), |round| {
        round.lock.command::<()>(&["SCRIPT", "FLUSH"]);
    });
}

/// Another program's script runs for a long time: every command is answered BUSY.
fn server_busy(round: &mut Round<'_>) {
    let mut hasty = round.holder(LONG);
    round.release(&mut hasty);
    let mut patient = round.worker();
    let mut looping = round.server.connection();
    let busy = std::thread::spawn(move || {
        // The script is killed below, so its command ends with an error.
        redis::cmd("EVAL")
            .arg("while true do end")
            .arg(0)
            .exec(&mut looping)
    });
    wait_until("BUSY", PATIENCE, || {
        let ping = redis::cmd("PING").exec(&mut *round.lock.connection);
        ping.is_err_and(|error| error.code() == Some("BUSY"))
    });

    round.refused(
        &mut hasty,
        (LONG, Duration::from_millis(200)),
        "Unavailable",
    );
    round.ask(&mut patient, LONG, PATIENCE);
    assert_eq!(patient.line(Duration::from_millis(100)), None);
    round.lock.command::<()>(&["SCRIPT", "KILL"]);
    let killed = Instant::now();
    let looped = busy.join().expect("the thread does not panic");
    assert!(looped.is_err(), "it was killed");
    round.let_in(&mut patient, killed, SOON);
}

/// The server loads its data for a second: every command is answered LOADING.
fn server_loading(round: &mut Round<'_>) {
    let mut hasty = round.holder(LONG);
    round.release(&mut hasty);
    let mut patient = round.worker();
    let fill = "for n = 1, 3000 do redis.call('SET', n, n) end";
    round.lock.command::<()>(&["EVAL", fill, "0"]);
    round.lock.command::<()>(&["SAVE"]);
    round.server.restart_loading();
    round.ask(&mut patient, LONG, PATIENCE);
    round.refused(&mut hasty, (LONG, Duration::ZERO), "Unavailable");
    round.reconnect();
    wait_until("end of loading", PATIENCE, || {
        redis::cmd("PING").exec(&mut *round.lock.connection).is_ok()
    });
    let loaded = Instant::now();
    round.let_in(&mut patient, loaded, SOON);
}
