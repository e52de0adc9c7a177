//! Locks of other clients that poll.

use std::sync::atomic::{AtomicUsize, Ordering};

use harness::{KEY, LOCK, LONG, ms, server_and_client};
use tokio::time::sleep;

/// Turns of the others.
const TURNS: usize = 400;

/// Four foreign clients take the lock in turns and poll every 2 ms. The crate's client polled every 200
/// ms and had one turn in eighty.
#[tokio::test]
async fn client_beside_polling_clients_has_a_fair_share() {
    let (server, ours) = server_and_client();
    let (mut turns, theirs) = (0, AtomicUsize::new(0));
    let are_over = || theirs.load(Ordering::Relaxed) >= TURNS;
    let other = async || {
        let mut connection = server.async_connection().await;
        let mut set = redis::cmd("SET");
        set.arg(&[LOCK, "another kind", "NX", "PX", "60000"]);
        while !are_over() {
            if set.query_async(&mut connection).await == Ok(true) {
                theirs.fetch_add(1, Ordering::Relaxed);
                sleep(ms(1)).await;
                let mut delete = redis::cmd("DEL");
                let deleted = delete.arg(LOCK).query_async(&mut connection).await;
                assert_eq!(deleted, Ok(1));
            }
            sleep(ms(2)).await;
        }
    };
    let our_turns = async {
        while !are_over() {
            let guard = ours.lock(KEY).wait(LONG).acquire().await.unwrap();
            turns += 1;
            sleep(ms(1)).await;
            guard.release().await.unwrap();
        }
    };
    tokio::join!(other(), other(), other(), other(), our_turns);
    let all = turns + theirs.into_inner();
    // A fifth would be its fair share; on a busy machine it has less, since it takes more steps for a turn.
    assert!(turns * 60 > all, "{turns} of {all} turns");
}
