//! Turns do not make others wait for longer than they may.

use std::time::Duration;

use harness::{KEY, LONG, QUEUE, RedisServer, ask, client, eventually, hold, ms, soon};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::line::{Line, Visits};

/// The grant of a turn owns so many tokens.
const TURNS: usize = 16;

/// Two processes with eight tasks each, all of which want the lock all the time.
#[tokio::test]
async fn a_process_has_no_more_turns_in_a_row_than_it_may() {
    let server = RedisServer::start();
    let visits = Visits::default();
    let mut tasks = JoinSet::new();
    let end = Instant::now() + ms(700);
    for name in ["one", "other"] {
        let client = client(server.url());
        for _ in 0..8 {
            let (client, visits) = (client.clone(), visits.clone());
            tasks.spawn(async move {
                while Instant::now() < end {
                    let guard = client.lock(KEY).wait(LONG).await.unwrap();
                    visits.note(name, guard.fencing_token().get());
                    guard.release().await.unwrap();
                }
            });
        }
    }
    soon(tasks.join_all()).await;

    assert!(visits.tokens().is_sorted(), "an older token came later");
    let names = visits.names();
    let spells: Vec<&[String]> = names.chunk_by(|one, next| one == next).collect();
    // Before both are there, and after one of them has left, the other one is alone.
    let between = &spells[1..spells.len() - 1];
    assert!(between.len() > 4, "they hardly met: {} visits", names.len());
    let longest = between.iter().map(|spell| spell.len()).max().unwrap();
    assert!(longest <= TURNS, "{longest} turns in a row");
    let most = between.iter().filter(|spell| spell.len() == TURNS).count();
    assert!(most > 0, "nobody had all of its turns");
}

/// Whether the next caller of the holder's own client comes before one that queues elsewhere, as the
/// holder knows.
async fn own_comes_first(held_for: Duration) -> bool {
    let server = RedisServer::start();
    let (own, other) = (client(server.url()), client(server.url()));
    let guard = hold(&own).await;
    let elsewhere = tokio::spawn({
        let other = other.clone();
        async move { hold(&other).await }
    });
    let mut connection = server.connection();
    eventually("other client in the queue", LONG, async || {
        let waiting: i64 = ask(&mut connection, &["ZCOUNT", QUEUE, "0", "+inf"]);
        waiting == 1
    })
    .await;
    guard.renew().await.unwrap();
    let visits = Visits::default();
    let line = Line::of(1, &own, &visits).await;
    sleep(held_for).await;
    guard.release().await.unwrap();
    let elsewhere = soon(elsewhere).await.unwrap();
    let local_came_first = !visits.names().is_empty();
    elsewhere.release().await.unwrap();
    line.served().await;
    local_came_first
}

#[tokio::test]
async fn a_young_grant_passes_although_others_wait() {
    assert!(own_comes_first(ms(0)).await);
}

#[tokio::test]
async fn a_grant_older_than_a_second_goes_to_those_who_wait_elsewhere() {
    assert!(!own_comes_first(ms(1_001)).await);
}

/// A client of which nobody else is heard may go round for as long as it likes, with a new grant
/// after each range of tokens.
#[tokio::test]
async fn alone_nobody_is_kept_waiting() {
    let server = RedisServer::start();
    let client = client(server.url());
    let visits = Visits::default();
    let first = hold(&client).await;
    let line = Line::of(3 * TURNS, &client, &visits).await;
    first.release().await.unwrap();
    line.served().await;
    assert_eq!(visits.names().len(), 3 * TURNS);
    assert!(visits.tokens().is_sorted());
}
