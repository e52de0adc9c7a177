//! Common substitutes for the one command, and how they fail.

use harness::{Proxy, RedisServer, exists, is_awaited, server_and_connection, soon};
use redis::Connection;

use super::{KEY, LOCK, LONG, ask, client, eventually, hold, ms};

/// The rest of the lease in ms; −1 means no expiry.
fn pttl(connection: &mut Connection) -> i64 {
    ask(connection, &["PTTL", LOCK])
}

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
        // The command runs, and no later command of its process arrives: a crash at the worst moment.
        proxy.cut_next_reply(LOCK);
        proxy.refuse(true);
        let dying = cut.lock(KEY).ttl(ms(1_500)).acquire();
        let dying = tokio::spawn(dying);
        let acquired = async || exists(&mut connection, LOCK);
        eventually("acquired lock", LONG, acquired).await;
        assert!((1..=1_500).contains(&pttl(&mut connection)));
        let next = soon(hold(&other)).await;
        dying.abort();
        next.release().await.unwrap();
    }
}

/// The value is the time when the lock ends, by its holder's clock. A client that considers this time past takes the
/// lock by GETSET. To a fast clock every lock has ended.
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
