//! A process that is killed while its callers take turns.

use std::time::Instant;

use harness::{History, KEY, LONG, PATIENCE, RedisServer, SLACK, Worker, client, ms, wait_until};

const TTL: u64 = 1_000;

/// Its lease ends like any other, in whichever turn it was, and no token comes twice.
#[tokio::test]
async fn the_next_process_follows_when_the_lease_has_ended() {
    let server = RedisServer::start();
    let ours = client(server.url());
    for _ in 0..3 {
        let url = server.url();
        let mut worker = Worker::spawn(env!("CARGO_BIN_EXE_lock-worker"), &[&url, &url]);
        let history = History::of(KEY);
        let mut connection = server.connection();
        let before = history.read(&mut connection).len();
        // Eight callers that would run for longer than the process lives.
        worker.send(&format!("hammer {KEY} {TTL} 20000 8 30000"));
        wait_until("turns", PATIENCE, || {
            history.read(&mut connection).len() > before + 40
        });
        worker.kill9();
        let killed = Instant::now();
        let guard = ours.lock(KEY).wait(LONG).await.expect("it is free by then");
        assert!(killed.elapsed() < ms(TTL) + SLACK);

        let entries = history.read(&mut connection);
        History::assert_exclusive(&entries);
        assert!(entries.is_sorted_by(|one, next| one.token < next.token));
        let turns = entries
            .windows(2)
            .filter(|pair| pair[1].token == pair[0].token + 1);
        assert!(turns.count() > 10, "it had hardly any turns");
        let last = entries.last().expect("there were visits").token;
        assert!(guard.fencing_token().get() > last);
        guard.release().await.expect("it was held throughout");
    }
}
