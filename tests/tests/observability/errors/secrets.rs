//! No password and no complete owner id is ever shown, and no key is logged.
//!
//! A client with a password meets successes and failures. The test collects everything that it prints, returns and
//! logs, and every owner id that it sends to Redis.

use std::collections::HashSet;
use std::fmt::Debug;
use std::future::pending;
use std::time::Duration;

use harness::{Monitor, Proxy, RedisServer, eventually, patient, shows_secret, urls_with_secrets};
use lock_runtime::{Credentials, LockError, LockErrorKind};

use super::{KEY, LOCK, LONG, assert_reads, ms};
use crate::telemetry::meter;
use crate::{log, record};

const PASSWORD: &str = "s3cret/pa55word";

/// As it appears in a URL.
const ENCODED: &str = "s3cret%2Fpa55word";

/// The output, and the secrets that it must not contain.
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

    fn fails_maybe(&mut self, result: Result<(), LockError>) {
        if let Err(error) = result {
            self.fails(&error);
        }
    }

    /// Neither errors nor the log nor labels of metrics contain a password or an owner id. Errors name keys; the log
    /// does not.
    #[track_caller]
    fn shows_no_secret(&self) {
        let logged = log::text();
        let metrics = meter::all().join("\n");
        for text in [&logged, &metrics, &self.shown] {
            for password in [PASSWORD, ENCODED, "pa55word"] {
                assert!(!text.contains(password), "a password is shown");
            }
            for owner in &self.owners {
                assert!(!text.contains(owner.as_str()), "an owner is shown");
                // The secret half of it does not appear either.
                assert!(!text.contains(&owner[8..]), "half an owner is shown");
            }
        }
        assert!(self.shown.contains(KEY), "an error names it");
        assert!(!logged.contains(KEY), "a key is logged");
        assert!(metrics.contains("server="), "a label names the server");
    }

    /// Collects the owner ids from the commands that were sent: arguments that begin with 22 characters of base64. A
    /// script's digest matches as well; it need not be shown either.
    fn look(&mut self, monitor: &mut Monitor) {
        let is_owner = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        // A new connection sends its name, which is no secret.
        let commands = monitor.take().into_iter();
        for command in commands.filter(|command| command.name != "HELLO") {
            let words = command.text.split('"').skip(1).step_by(2);
            let owners = words.filter_map(|word| word.get(..22));
            let owners = owners.filter(|owner| owner.chars().all(is_owner));
            self.owners.extend(owners.map(str::to_owned));
        }
    }
}

#[tokio::test]
async fn passwords_and_owners_are_never_shown() {
    record();
    let server = RedisServer::start();
    let mut raw = server.connection();
    let rights = ["~*", "&*", "+@all"];
    server.user("app", PASSWORD, &rights);
    let proxy = Proxy::start(server.port());
    let url = |password: &str| proxy.url().replace("://", &format!("://app:{password}@"));
    let mut monitor = server.monitor();

    let mut evidence = Evidence::default();
    let builder = patient(url(ENCODED));
    evidence.show(&builder);
    let client = builder.build().unwrap();
    let other = patient(url(ENCODED)).connect().await.unwrap();
    evidence.show(&client);

    // The lock is held, renewed and waited for.
    let acquire = client.lock(KEY).ttl(LONG);
    evidence.show(&acquire);
    let guard = acquire.acquire().await.unwrap();
    evidence.show(&guard);
    guard.renew().await.unwrap();
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    harness::is_awaited(&mut raw).await;
    let busy = other.lock(KEY).wait(ms(50)).acquire().await.unwrap_err();
    evidence.fails(&busy);
    guard.release().await.unwrap();
    let guard = waiting.await.unwrap().unwrap();
    evidence.show(&guard);

    // The lock is taken by another owner.
    harness::ask::<i64>(&mut raw, &["DEL", LOCK]);
    evidence.fails(&guard.renew().await.unwrap_err());
    drop(guard);

    // The connection is cut while the lock is held; renewals and a release fail.
    let body = async |guard: &lock_runtime::LockGuard| {
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

    // A release without an answer, and an acquisition whose answer is lost.
    let guard = client.lock("order:43").wait(LONG).acquire().await.unwrap();
    proxy.black_hole();
    evidence.fails_maybe(guard.release().await);
    proxy.kill_connections();
    proxy.heal();
    let warm = client.lock("order:43").wait(LONG).acquire().await.unwrap();
    warm.release().await.unwrap();
    proxy.cut_next_reply("order:44");
    let guard = client.lock("order:44").wait(LONG).acquire().await.unwrap();
    evidence.show(&guard);
    guard.release().await.unwrap();

    // The connection is killed, the server restarts empty, and the client shuts down.
    let guard = other.lock(KEY).wait(LONG).acquire().await.unwrap();
    let _: i64 = harness::ask(&mut raw, &["CLIENT", "KILL", "USER", "app"]);
    let _: () = harness::ask(&mut raw, &["SCRIPT", "FLUSH"]);
    // The command may be sent before the client has noticed the end of the connection.
    evidence.fails_maybe(guard.renew().await);
    eventually("renewal", LONG, async || guard.renew().await.is_ok()).await;
    drop(guard);
    other.shutdown().await;
    let over = other.lock(KEY).acquire().await.unwrap_err();
    evidence.fails(&over);

    // Every wrong setting.
    let wrong = format!("{ENCODED}-wrong");
    evidence.fails(&patient(url(&wrong)).connect().await.unwrap_err());
    for broken in [
        format!("redis://app:{ENCODED}@:port:"),
        format!("redis://app:{ENCODED}@host/x/y"),
        format!("rediss://app:{ENCODED}@host#insecure"),
        format!("redis+unix:///run/redis.sock?password={PASSWORD}"),
        format!("http://app:{ENCODED}@host"),
        format!("app:{ENCODED}@host"),
        format!("memory://app:{ENCODED}@host"),
    ] {
        let builder = patient(broken);
        evidence.show(&builder);
        evidence.fails(&builder.build().unwrap_err());
    }
    let issued = async || Ok::<_, std::io::Error>(Credentials::new("app", PASSWORD));
    let builder = patient(server.url()).credentials(issued);
    evidence.show(&builder);
    let changed = builder.connect().await.unwrap();
    evidence.show(&changed);
    server.user("app", "other", &rights);
    let _: i64 = harness::ask(&mut raw, &["CLIENT", "KILL", "USER", "app"]);
    let refused = changed.lock(KEY).wait(LONG).acquire().await;
    evidence.fails(&refused.unwrap_err());
    server.user("app", PASSWORD, &rights);
    for spoil in ["LPUSH", "SET"] {
        harness::ask::<i64>(&mut raw, &["DEL", LOCK]);
        harness::ask::<redis::Value>(&mut raw, &[spoil, LOCK, "theirs"]);
        let refused = client.lock(KEY).wait(Duration::ZERO).acquire().await;
        evidence.fails(&refused.unwrap_err());
    }

    let logged = log::text();
    for event in [
        "lock_acquired",
        "lock_lost",
        "renewal_failed",
        "connection_failed",
        "connected",
        "connection_lost",
        "release_unconfirmed",
    ] {
        assert!(logged.contains(event), "{event} was not recorded");
    }
    evidence.look(&mut monitor);
    let seen = evidence.owners.len();
    assert!(seen > 10, "{seen} owners were sent to Redis");
    evidence.shows_no_secret();
}

/// Such a server repeats the arguments of an unknown command in its error, including an owner id.
#[tokio::test]
async fn owners_are_not_in_the_errors_of_a_server_without_scripts() {
    record();
    let server = RedisServer::start();
    let ignorant = RedisServer::builder().without("EVALSHA").start();
    let proxy = Proxy::start(server.port());
    let mut monitor = server.monitor();
    let mut evidence = Evidence::default();
    let client = patient(proxy.url()).connect().await.unwrap();
    let guard = client.lock(KEY).ttl(ms(6_000)).acquire().await.unwrap();
    let kept = client.lock("order:43").ttl(LONG).acquire().await.unwrap();
    guard.renew().await.unwrap();
    evidence.look(&mut monitor);
    // The errors also have digests: that of the renewal's script, and that of the trial of the connection.
    assert_eq!(evidence.owners.len(), 2 + 2);

    // Another server in its place: a proxy without scripts, or a Sentinel.
    proxy.redirect(ignorant.port());
    proxy.kill_connections();
    eventually("refusal", LONG, async || {
        let error = guard.renew().await.unwrap_err();
        evidence.fails(&error);
        error.to_string().contains("unknown command")
    })
    .await;
    // The background renews as well, and logs that.
    eventually("loss", LONG, async || !guard.is_valid()).await;
    evidence.fails_maybe(guard.release().await);
    evidence.fails_maybe(kept.release().await);
    let refused = client.lock(KEY).wait(LONG).fenced().acquire().await;
    let refused = refused.unwrap_err();
    assert!(refused.is_rejected(), "{refused}");
    evidence.fails(&refused);

    assert!(log::text().contains("fault=ERR unknown command"));
    evidence.shows_no_secret();
}

/// An unencoded password may contain any character that separates parts of a URL. Such a URL is either refused, or
/// parsed as intended.
#[tokio::test]
async fn secrets_of_urls_are_never_shown() {
    record();
    let (mut refused, mut accepted) = (0, 0);
    for (number, url) in urls_with_secrets().enumerate() {
        let builder = patient(&url).command_timeout(ms(10));
        let mut shown = format!("{builder:?}");
        let error = match builder.build() {
            Ok(client) => {
                accepted += 1;
                shown += &format!("{client:#?}");
                // A few of each character and place, since each takes a while.
                if number % 7 == 0 {
                    Some(client.ping().await.expect_err("nobody listens"))
                } else {
                    None
                }
            }
            Err(error) => {
                refused += 1;
                let kind = error.kind();
                assert_eq!(kind, LockErrorKind::InvalidOptions, "{url}: {error}");
                Some(error)
            }
        };
        if let Some(error) = error {
            assert_reads(&error);
            shown += &format!("{error} {error:?}");
        }
        assert!(!shows_secret(&shown), "{url}: {shown}");
    }
    assert!(
        refused > 500 && accepted > 500,
        "{refused} are refused, {accepted} are not"
    );
    assert!(!shows_secret(&log::text()), "a secret is logged");
    assert!(
        !shows_secret(&meter::all().join("\n")),
        "a label has a secret"
    );
}
