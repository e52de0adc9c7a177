//! No password and no whole owner is ever shown.
//!
//! A client with a password goes through good times and bad; whatever it prints, returns and logs
//! meanwhile is collected, and so is every owner that was seen in Redis.

use std::collections::HashSet;
use std::fmt::Debug;
use std::future::pending;
use std::time::Duration;

use harness::{Proxy, RedisServer};
use lock_runtime::{LockClient, LockError};
use redis::Connection;

use crate::{KEY, LONG, log, ms};

const PASSWORD: &str = "s3cret-pa55word";

/// What was shown, and what must not have been.
#[derive(Default)]
struct Evidence {
    shown: String,
    owners: HashSet<String>,
}

impl Evidence {
    fn show(&mut self, thing: &impl Debug) {
        self.shown.push_str(&format!("{thing:?}\n{thing:#?}\n"));
    }

    fn fails(&mut self, error: &LockError) {
        self.show(error);
        self.shown.push_str(&error.to_string());
    }

    /// Looks for owners in all values and queues.
    fn look(&mut self, server: &mut Connection) {
        let keys: Vec<String> = redis::cmd("KEYS").arg("lock:*").query(server).unwrap();
        for key in keys {
            let value: String = redis::cmd("GET").arg(key).query(server).unwrap();
            self.owners.insert(value[..22].to_owned());
        }
        let queues: Vec<String> = redis::cmd("KEYS").arg("*:w").query(server).unwrap();
        for queue in queues {
            let mut range = redis::cmd("ZRANGE");
            let members: Vec<String> = range.arg(queue).arg(0).arg(-1).query(server).unwrap();
            let owners = members.iter().map(|member| member[..22].to_owned());
            self.owners.extend(owners);
        }
    }
}

#[tokio::test]
async fn passwords_and_owners_stay_out_of_everything_that_is_shown() {
    log::record();
    let server = RedisServer::start();
    let mut raw = server.connection();
    let user = format!(">{PASSWORD}");
    let rights = ["ACL", "SETUSER", "app", "on", &user, "~*", "&*", "+@all"];
    let mut setuser = redis::cmd(rights[0]);
    setuser.arg(&rights[1..]).exec(&mut raw).unwrap();
    let proxy = Proxy::start(server.port());
    let url = |password: &str| proxy.url().replace("://", &format!("://app:{password}@"));

    let mut evidence = Evidence::default();
    let builder = LockClient::builder().url(url(PASSWORD));
    evidence.show(&builder);
    let client = builder.build().unwrap();
    let other = LockClient::connect(&url(PASSWORD)).await.unwrap();
    evidence.show(&client);

    // Held, renewed, waited for.
    let acquire = client.lock(KEY).ttl(ms(300));
    evidence.show(&acquire);
    let guard = acquire.acquire().await.unwrap();
    evidence.show(&guard);
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    harness::eventually("waiter", LONG, async || {
        evidence.look(&mut raw);
        evidence.owners.len() >= 2
    })
    .await;
    let busy = other.lock(KEY).wait(ms(50)).acquire().await.unwrap_err();
    evidence.fails(&busy);
    guard.release().await.unwrap();
    let guard = waiting.await.unwrap().unwrap();
    evidence.show(&guard);

    // Stolen.
    redis::cmd("DEL")
        .arg("lock:order:42")
        .exec(&mut raw)
        .unwrap();
    evidence.fails(&guard.renew().await.unwrap_err());
    drop(guard);

    // Cut off while held, with renewals and a release that fail.
    let body = async |guard: &lock_runtime::LockGuard| {
        evidence.look(&mut raw);
        evidence.show(guard);
        proxy.black_hole();
        pending::<()>().await;
    };
    let run = client.lock(KEY).wait(LONG).ttl(ms(400)).run(body).await;
    evidence.fails(&run.unwrap_err());
    let outage = client.lock(KEY).wait(ms(50)).acquire().await.unwrap_err();
    evidence.fails(&outage);
    proxy.kill_connections();
    proxy.refuse(true);
    let outage = client.lock(KEY).wait(ms(50)).acquire().await.unwrap_err();
    evidence.fails(&outage);
    proxy.heal();

    // Wrong in every way.
    let wrong = format!("{PASSWORD}-wrong");
    evidence.fails(&LockClient::connect(&url(&wrong)).await.unwrap_err());
    for broken in [
        format!("redis://app:{PASSWORD}@:port:"),
        format!("redis://app:{PASSWORD}@host/x/y"),
        format!("rediss://app:{PASSWORD}@host#insecure"),
        format!("redis+unix:///run/redis.sock?password={PASSWORD}"),
        format!("http://app:{PASSWORD}@host"),
        format!("app:{PASSWORD}@host"),
        format!("memory://app:{PASSWORD}@host"),
    ] {
        let builder = LockClient::builder().url(broken);
        evidence.show(&builder);
        evidence.fails(&builder.build().unwrap_err());
    }
    for key in ["LPUSH", "SET"] {
        let mut spoil = redis::cmd(key);
        redis::cmd("DEL")
            .arg("lock:order:42")
            .exec(&mut raw)
            .unwrap();
        spoil
            .arg("lock:order:42")
            .arg("theirs")
            .exec(&mut raw)
            .unwrap();
        let refused = client.lock(KEY).wait(Duration::ZERO).acquire().await;
        evidence.fails(&refused.unwrap_err());
    }

    let logged = log::text();
    for event in [
        "lock_acquired",
        "lock_lost",
        "renewal_failed",
        "connection_failed",
    ] {
        assert!(logged.contains(event), "{event} was not recorded");
    }
    assert!(evidence.owners.len() >= 3, "owners were seen in Redis");
    for text in [&logged, &evidence.shown] {
        assert!(!text.contains(PASSWORD), "a password is shown");
        for owner in &evidence.owners {
            assert!(!text.contains(owner.as_str()), "an owner is shown");
            // Nor the part of it that is secret.
            assert!(!text.contains(&owner[8..]), "half an owner is shown");
        }
    }
}
