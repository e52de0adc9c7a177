//! A server that answers with refusals: the error is reported immediately, and the command is not
//! repeated.

use super::*;
use crate::worker::comes_with_token;

rows! {
    E out_of_memory, walked;
    E wrong_type;
    E no_permission;
    E wrong_password;
}

/// Memory is full: no process gets a lock; a holder can keep it, release it, and hand it off.
fn out_of_memory(round: &mut Round<'_>) {
    let mut holder = round.holder(LONG);
    let mut waiter = round.waiter(LONG);
    let mut newcomer = round.worker();
    // The server refuses its polls like a newcomer's; once granted, it may take the lock.
    waiter.stop();
    round.server.config_set("maxmemory", "1");
    refused(round, &mut newcomer, "OOM");
    assert_eq!(holder.ask("renew", PATIENCE), "ok");
    let released = round.finish(&mut holder);
    assert!(round.lock.is_held_by(&waiter), "it was not handed off");
    waiter.cont();
    round.let_in(&mut waiter, released, Duration::ZERO);
    assert_eq!(round.lock.value(), None, "it was not released");
    round.server.config_set("maxmemory", "0");
}

/// Another program uses the record's names: its keys are left alone.
fn wrong_type(round: &mut Round<'_>) {
    let mut worker = round.worker();
    let (k, f, q) = (
        round.lock.k.clone(),
        round.lock.f.clone(),
        round.lock.q.clone(),
    );
    for name in [&k, &f, &q] {
        let _: i64 = round.lock.command(&["LPUSH", name, "precious"]);
        // A caller that takes a free lock and requests the token later ignores the queue.
        if name == &q && !comes_with_token(&round.key) {
            worker = round.hold(worker, LONG);
            round.release(&mut worker);
            let _: i64 = round.lock.command(&["DEL", &f]);
        } else {
            refused(round, &mut worker, "WRONGTYPE");
        }
        let intact: Vec<String> = round.lock.command(&["LRANGE", name, "0", "-1"]);
        assert_eq!(intact, ["precious"]);
        // A lock whose token is refused is given back.
        wait_until("only that", PATIENCE, || {
            round.lock.command::<i64>(&["DBSIZE"]) == 1
        });
        let _: i64 = round.lock.command(&["DEL", name]);
    }
    let mut worker = round.hold(worker, LONG);
    round.release(&mut worker);
}

/// A user who must not run scripts.
fn no_permission(round: &mut Round<'_>) {
    let rights = ["~*", "&*", "+@all", "-eval", "-evalsha"];
    let words = [&["ACL", "SETUSER", "app", "on", ">s3cret"][..], &rights].concat();
    round.lock.command::<()>(&words);
    shut_out(round, "app:s3cret", "NOPERM");
}

/// A user with a wrong password.
fn wrong_password(round: &mut Round<'_>) {
    round
        .lock
        .command::<()>(&["ACL", "SETUSER", "app", "on", ">s3cret"]);
    shut_out(round, "app:guess", "WRONGPASS");
}

/// However long the wait, a few commands are enough.
fn shut_out(round: &mut Round<'_>, login: &str, code: &str) {
    let url = round.server.url();
    let mut worker = round.worker_at(&url.replace("redis://", &format!("redis://{login}@")));
    // A plain command may take a lock that this user could not release.
    refuses(round, &mut worker, "take", code);
    // Each connection and each attempt would be counted here.
    let refusals = round.figure(&format!("errorstat_{code}:count"));
    assert!(refusals <= 4, "a storm of {refusals} commands");
    assert_eq!(round.lock.command::<i64>(&["DBSIZE"]), 0, "it wrote");
}

/// An attempt with a long wait ends at once, with the server's own error code.
fn refused(round: &mut Round<'_>, worker: &mut Worker, code: &str) {
    refuses(round, worker, "acquire", code);
}

fn refuses(round: &mut Round<'_>, worker: &mut Worker, verb: &str, code: &str) {
    worker.ask("idle", PATIENCE);
    let asked = Instant::now();
    let answer = worker.ask(&round.command(verb, LONG, PATIENCE, ""), PATIENCE);
    let took = ran_since(asked);
    assert!(answer.starts_with("failed Rejected "), "{answer}");
    assert!(answer.contains(code), "{answer}");
    assert!(took < SLACK, "refused after {took:?}");
}
