//! Common substitutes for the one command, and how they fail.

use harness::{is_awaited, server_and_connection, server_and_proxy};
use redis::Connection;

use super::{
    KEY, LOCK, LONG, Proxy, RedisServer, ask, client, delete, eventually, hold, ms, pttl, soon,
    value,
};

/// SETNX and then EXPIRE: a crash in between leaves a lock that never ends.
mod setnx_then_expire {
    use super::*;

    #[test]
    fn theirs_lasts_for_ever() {
        let (_server, mut connection) = server_and_connection();
        assert_eq!(ask::<i64>(&mut connection, &["SETNX", LOCK, "crashed"]), 1);
        // The process dies here.
        assert_eq!(pttl(&mut connection), -1);
    }

    #[tokio::test]
    async fn ours_has_its_expiry_from_the_first_command() {
        let (server, mut connection) = server_and_connection();
        let proxy = Proxy::start(server.port());
        let (cut, other) = (client(proxy.url()), client(server.url()));
        hold(&cut).await.release().await.unwrap();
        // The command is carried out, and no later command of its process arrives: a crash at the worst
        // moment.
        proxy.cut_next_reply(LOCK);
        proxy.refuse(true);
        let dying = cut.lock(KEY).ttl(ms(1_500)).acquire();
        let dying = tokio::spawn(dying);
        eventually("acquired lock", LONG, async || {
            value(&mut connection).is_some()
        })
        .await;
        assert!((1..=1_500).contains(&pttl(&mut connection)));
        let next = soon(hold(&other)).await;
        dying.abort();
        next.release().await.unwrap();
    }
}

/// The value is the time when the lock ends, by its holder's clock. A client that finds that time past
/// takes the lock by GETSET. To a fast clock every lock has ended.
mod time_stamps_of_clients {
    use super::*;

    fn getset(connection: &mut Connection, now: u64) -> bool {
        let ends = (now + 30).to_string();
        if ask::<i64>(connection, &["SETNX", LOCK, &ends]) == 1 {
            return true;
        }
        let found: u64 = ask(connection, &["GET", LOCK]);
        found < now && ask::<u64>(connection, &["GETSET", LOCK, &ends]) == found
    }

    #[test]
    fn theirs_admits_a_fast_clock() {
        let (_server, mut connection) = server_and_connection();
        let noon = 12 * 3600;
        assert!(getset(&mut connection, noon));
        assert!(!getset(&mut connection, noon + 1));
        assert!(getset(&mut connection, noon + 60), "two are inside");
    }

    #[tokio::test]
    async fn ours_sends_no_time_of_day() {
        let server = RedisServer::start();
        let mut monitor = server.monitor();
        let (one, other) = (client(server.url()), client(server.url()));
        let guard = hold(&one).await;
        let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
        is_awaited(&mut server.connection()).await;
        guard.renew().await.unwrap();
        guard.release().await.unwrap();
        waiting.await.unwrap().unwrap().release().await.unwrap();

        let commands = monitor.take();
        let ours = |command: &&harness::Command| command.name.starts_with("EVAL");
        let scripts: Vec<_> = commands.iter().filter(ours).collect();
        assert!(scripts.len() >= 5, "{scripts:?}");
        let numbers = scripts
            .iter()
            .flat_map(|script| script.text.split('"'))
            .filter_map(|word| word.parse::<i64>().ok());
        // A day in ms is the longest ttl; any time of day since 1970 is greater, even in seconds.
        let longest = numbers.map(i64::abs).max();
        assert!(longest.is_some_and(|n| n <= 86_400_000), "{longest:?}");
    }
}

/// DEL by a client that believes it holds the lock: another may hold it by now.
mod plain_del {
    use super::*;

    #[tokio::test]
    async fn theirs_frees_another_holders_lock_and_ours_does_not() {
        let (server, mut connection) = server_and_connection();
        let (one, other) = (client(server.url()), client(server.url()));
        let short = one.lock(KEY).ttl(ms(100)).renew(false);
        let slow = short.acquire().await.unwrap();
        slow.lost().await;
        let next = soon(hold(&other)).await;

        let error = slow.release().await.unwrap_err();
        assert!(error.is_lost());
        next.renew().await.expect("it is untouched");
        // The same with a hand-written release:
        delete(&mut connection);
        assert!(next.renew().await.unwrap_err().is_lost());
    }
}

/// GET, compare, DEL: the lock may change hands after the GET.
mod get_then_del {
    use super::*;

    #[test]
    fn theirs_frees_another_holders_lock() {
        let (_server, mut connection) = server_and_connection();
        let _: String = ask(&mut connection, &["SET", LOCK, "slow", "PX", "50"]);
        assert_eq!(value(&mut connection).as_deref(), Some("slow"));
        // The client has seen that the lock is its own. Now it is slow, and another client comes.
        harness::wait_until("end of the lease", LONG, || {
            ask::<Option<String>>(&mut connection, &["SET", LOCK, "next", "NX"]).is_some()
        });
        delete(&mut connection);
        assert_eq!(value(&mut connection), None, "next has lost its lock");
    }

    /// The slowest possible release: sent in time, and arriving when another client has the lock.
    #[tokio::test]
    async fn ours_compares_and_deletes_in_one_step() {
        let (server, proxy) = server_and_proxy();
        let (slow, other) = (client(proxy.url()), client(server.url()));
        let lease = slow.lock(KEY).ttl(ms(500)).renew(false);
        let guard = lease.acquire().await.unwrap();
        proxy.requests(harness::Mode::Hold);
        drop(guard);
        let next = soon(hold(&other)).await;
        let mut monitor = server.monitor();
        proxy.heal();
        let mut arrived = Vec::new();
        eventually("late release", LONG, async || {
            arrived.extend(monitor.take());
            arrived.iter().any(|command| command.text.contains(LOCK))
        })
        .await;
        next.renew().await.expect("it is untouched");
        next.release().await.unwrap();
    }
}
