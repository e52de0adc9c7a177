//! Local turns delay other clients no longer than allowed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use harness::{KEY, LONG, QUEUE, RedisServer, ask, client, eventually, hold, ms, soon, token_of};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::line::{Line, Visits};

/// The number of tokens that one grant owns for its turns.
const TURNS: usize = 16;

/// Two processes with eight tasks each, which want the lock all the time.
#[tokio::test]
async fn number_of_local_turns_in_a_row_is_bounded() {
    let server = RedisServer::start();
    let visits = Visits::default();
    let mut tasks = JoinSet::new();
    let over = Arc::new(AtomicBool::new(false));
    for name in ["one", "other"] {
        let client = client(server.url());
        for _ in 0..8 {
            let (client, visits, over) = (client.clone(), visits.clone(), over.clone());
            tasks.spawn(async move {
                while !over.load(Ordering::Relaxed) {
                    let guard = client.lock(KEY).wait(LONG).await.unwrap();
                    visits.note(name, token_of(&guard).await.get());
                    guard.release().await.unwrap();
                }
            });
        }
    }
    sleep(ms(700)).await;
    // On a slow machine they have barely met by then.
    eventually("spell of all turns among many", LONG, async || {
        let spells = spells(&visits);
        spells.len() > 4 && spells.iter().any(|&turns| turns >= TURNS)
    })
    .await;
    over.store(true, Ordering::Relaxed);
    soon(tasks.join_all()).await;

    assert!(visits.tokens().is_sorted(), "an older token came later");
    let longest = spells(&visits).into_iter().max().unwrap();
    assert!(longest <= TURNS, "{longest} turns in a row");
}

/// The lengths of the runs of one client's visits. The first and the last run do not count, since one client is alone
/// then.
fn spells(visits: &Visits) -> Vec<usize> {
    let names = visits.names();
    let spells = names.chunk_by(|one, next| one == next).map(<[_]>::len);
    let mut spells: Vec<_> = spells.skip(1).collect();
    spells.pop();
    spells
}

/// Whether the next local caller is served before a waiter of another client that the holder knows about.
async fn own_comes_first(held_for: Duration) -> bool {
    let server = RedisServer::start();
    let (own, other) = (client(server.url()), client(server.url()));
    let mut connection = server.connection();
    // The grant does not age while the clients connect.
    for client in [&own, &other] {
        let warm = client.lock("warm").wait(LONG).await.unwrap();
        warm.release().await.unwrap();
    }
    let guard = hold(&own).await;
    let elsewhere = tokio::spawn({
        let other = other.clone();
        async move { hold(&other).await }
    });
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
async fn grant_is_handed_over_despite_another_clients_waiter_for_a_second() {
    assert!(own_comes_first(ms(0)).await);
    assert!(!own_comes_first(ms(1_001)).await);
}
