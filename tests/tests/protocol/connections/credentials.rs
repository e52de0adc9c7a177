//! Credentials that the application provides again for each connection.

use std::error::Error;
use std::fmt;
use std::fs;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::{Proxy, RedisServer, eventually, failed, patient, server_and_proxy};
use lock_runtime::Credentials;

use super::users::user_of;
use super::*;

/// A service that issues credentials.
#[derive(Clone)]
struct Issuer {
    current: Arc<Mutex<Credentials>>,
    asked: Arc<AtomicUsize>,
}

impl Issuer {
    fn of(credentials: Credentials) -> Issuer {
        Issuer {
            current: Arc::new(Mutex::new(credentials)),
            asked: Arc::default(),
        }
    }

    /// A client that gets its credentials from the issuer.
    fn client(&self, url: impl Into<String>) -> LockClient {
        let issuer = self.clone();
        let ask = move || {
            issuer.asked.fetch_add(1, Ordering::SeqCst);
            let current = issuer.current.lock().unwrap().clone();
            async move {
                tokio::time::sleep(ms(1)).await;
                Ok::<_, io::Error>(current)
            }
        };
        client_of(patient(url).credentials(ask))
    }

    fn issue(&self, credentials: Credentials) {
        *self.current.lock().unwrap() = credentials;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn client_of(builder: LockClientBuilder) -> LockClient {
    builder.build().expect("the settings are valid")
}

/// Creates a user, or changes its password.
fn set_user(server: &RedisServer, user: &str, password: &str) {
    server.user(user, password, &["~*", "&*", "+@all"]);
}

/// The error of a call that does not wait: an outage with these words.
async fn outage(client: &LockClient, words: &str) -> LockError {
    let acquire = client.lock(KEY).wait(Duration::ZERO).acquire();
    let error = acquire.await.expect_err("there is no connection");
    assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
    assert!(error.is_unavailable(), "{error}");
    assert!(error.to_string().contains(words), "{error}");
    error
}

#[tokio::test]
async fn password_that_changes_during_an_outage_is_used_after_it() {
    let (server, proxy) = server_and_proxy();
    set_user(&server, "app", "s3cret");
    let issuer = Issuer::of(Credentials::password("s3cret"));
    let client = issuer.client(proxy.url().replace("://", "://app@"));
    cycle(&client).await;
    proxy.refuse(true);
    proxy.kill_connections();
    let refused = proxy.refused();
    eventually("attempts", LONG, async || {
        outage(&client, "").await;
        proxy.refused() > refused + 2
    })
    .await;
    set_user(&server, "app", "n3xt");
    issuer.issue(Credentials::password("n3xt"));
    proxy.refuse(false);
    assert_eq!(user_of(&client, &server).await, "app");
}

#[tokio::test]
async fn user_that_rotates_keeps_its_locks() {
    let server = RedisServer::start();
    set_user(&server, "blue", "s3cret");
    let issuer = Issuer::of(Credentials::new("blue", "s3cret"));
    let client = issuer.client(server.url());
    assert_eq!(issuer.asked(), 0, "nothing is asked before it is needed");
    let held = soon(hold(&client)).await;
    // The connection does not log in again.
    set_user(&server, "blue", "n3xt");
    held.renew().await.unwrap();
    assert_eq!(issuer.asked(), 1);
    for user in ["green", "blue", "green"] {
        let last = ["blue", "green"][usize::from(user == "blue")];
        set_user(&server, user, "s3cret-too");
        issuer.issue(Credentials::new(user, "s3cret-too"));
        // This closes its connections.
        let _: i64 = ask(&mut server.connection(), &["ACL", "DELUSER", last]);
        eventually("renewal", LONG, async || held.renew().await.is_ok()).await;
    }
    held.release().await.expect("it was held throughout");
    assert_eq!(user_of(&client, &server).await, "green");
}

/// The answers of a server that has forgotten a login, as after the patch of a managed service.
const FORGOTTEN: [&str; 2] = [
    "NOAUTH Authentication required.",
    "WRONGPASS invalid username-password pair or user is disabled.",
];

#[tokio::test]
async fn login_that_the_server_forgets_is_made_again_and_its_locks_stay_held() {
    let (server, proxy) = server_and_proxy();
    set_user(&server, "app", "s3cret");
    let issuer = Issuer::of(Credentials::new("app", "s3cret"));
    let client = issuer.client(proxy.url());
    let held = soon(hold(&client)).await;
    for error in FORGOTTEN {
        let asked = issuer.asked();
        proxy.forget_logins(error);
        eventually("renewal", LONG, async || held.renew().await.is_ok()).await;
        assert!(issuer.asked() > asked, "the credentials were not asked for");
        proxy.forget_logins(error);
        let other = client.lock("order:43").wait(LONG).acquire().await.unwrap();
        other.release().await.unwrap();
        // Looking at a lock is another kind of command.
        proxy.forget_logins(error);
        eventually("look", LONG, async || client.inspect(KEY).await.is_ok()).await;
        proxy.forget_logins(error);
        eventually("answer", LONG, async || client.ping().await.is_ok()).await;
    }
    assert!(held.is_valid());
    held.release().await.expect("it was held throughout");
}

#[tokio::test]
async fn login_that_the_server_forgets_and_refuses_is_rejected() {
    let (server, proxy) = server_and_proxy();
    set_user(&server, "app", "s3cret");
    let issuer = Issuer::of(Credentials::new("app", "s3cret"));
    let client = issuer.client(proxy.url());
    cycle(&client).await;
    set_user(&server, "app", "n3xt");
    proxy.forget_logins(FORGOTTEN[0]);
    let error = refusal(&client).await;
    assert!(error.is_rejected(), "{error}");
    assert!(error.to_string().contains("WRONGPASS"), "{error}");
    issuer.issue(Credentials::new("app", "n3xt"));
    cycle(&client).await;
}

#[tokio::test]
async fn login_that_the_nodes_of_a_quorum_forget_is_made_again() {
    let nodes: Vec<_> = (0..3).map(|_| server_and_proxy()).collect();
    for (server, _) in &nodes {
        server.allow(harness::QUORUM_RIGHTS);
    }
    let hosts = nodes
        .iter()
        .map(|(_, proxy)| format!("127.0.0.1:{}", proxy.port()));
    let hosts: Vec<String> = hosts.collect();
    let client = harness::patient(format!("redlock://{}?restart_delay=0ms", hosts.join(",")));
    let client = client.build().unwrap();
    let held = client.lock(KEY).wait(LONG).acquire().await.unwrap();
    for error in FORGOTTEN {
        nodes
            .iter()
            .for_each(|(_, proxy)| proxy.forget_logins(error));
        eventually("renewal", LONG, async || held.renew().await.is_ok()).await;
    }
    held.release().await.expect("it was held throughout");
}

#[tokio::test]
async fn refused_credentials_are_asked_for_again_by_the_next_call() {
    let server = RedisServer::start();
    set_user(&server, "app", "s3cret");
    let issuer = Issuer::of(Credentials::new("app", "s3cret-of-yesterday"));
    let client = issuer.client(server.url());
    for asked in 1..=2 {
        // Even a call that could wait does not try again.
        let error = refusal(&client).await;
        assert!(error.is_rejected(), "{error}");
        assert!(error.to_string().contains("WRONGPASS"), "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
        assert!(issuer.asked() >= asked, "{}", issuer.asked());
    }
    issuer.issue(Credentials::new("app", "s3cret"));
    cycle(&client).await;
}

/// The error of a callback, and the one behind it.
#[derive(Debug)]
struct Failed(io::Error);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no token\nfor now")
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[tokio::test]
async fn callback_that_fails_is_an_outage_with_its_reason() {
    let server = RedisServer::start();
    let is_up = Arc::new(Mutex::new(false));
    let state = is_up.clone();
    let ask = move || {
        let is_up = *state.lock().unwrap();
        async move {
            if is_up {
                Ok(Credentials::password("any"))
            } else {
                Err(io::Error::other(Failed(io::Error::other("sealed"))))
            }
        }
    };
    let client = client_of(patient(server.url()).credentials(ask));
    let words = "the callback for credentials failed: no token for now";
    let error = outage(&client, words).await;
    let cause = error.cause().expect("the callback's error");
    assert_eq!(cause.to_string(), "no token\nfor now");
    // The message has its text, so a chain begins with what is behind it.
    let source = error.source().expect("the error behind the callback's");
    assert_eq!(source.to_string(), "sealed");

    // A call that waits succeeds once the callback does. The nameless user accepts every password.
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { cycle(&client).await }
    });
    outage(&client, "").await;
    *is_up.lock().unwrap() = true;
    waiting.await.unwrap();
}

#[tokio::test]
async fn callback_that_panics_is_an_outage() {
    let server = RedisServer::start();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let ask = move || {
        let number = count.fetch_add(1, Ordering::SeqCst);
        assert!(number != 0, "the callback panics before it awaits");
        async move {
            assert!(number != 1, "the callback panics");
            Ok::<_, io::Error>(Credentials::password("any"))
        }
    };
    let client = client_of(patient(server.url()).credentials(ask));
    for _ in 0..2 {
        outage(&client, "the callback for credentials panicked").await;
    }
    cycle(&client).await;
}

/// Counts the futures that have not been dropped yet.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn among(alive: &Arc<AtomicUsize>) -> Alive {
        alive.fetch_add(1, Ordering::SeqCst);
        Alive(alive.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn callback_that_hangs_is_dropped_when_the_time_to_connect_is_over() {
    let server = RedisServer::start();
    let alive = Arc::new(AtomicUsize::new(0));
    let all = alive.clone();
    let ask = move || {
        let alive = Alive::among(&all);
        async move {
            let _alive = alive;
            pending::<Result<Credentials, io::Error>>().await
        }
    };
    let builder = patient(server.url())
        .command_timeout(ms(1_500))
        .credentials(ask);
    let client = builder.build().unwrap();
    for _ in 0..3 {
        let words = "the callback for credentials did not answer within";
        outage(&client, words).await;
    }
    eventually("end of the callbacks", LONG, async || {
        alive.load(Ordering::SeqCst) == 0
    })
    .await;
}

#[tokio::test]
async fn callback_that_blocks_its_thread_delays_no_other_client() {
    let server = RedisServer::start();
    let (unblock, blocked) = std::sync::mpsc::channel::<()>();
    let blocked = Mutex::new(blocked);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let blocks = move || {
        count.fetch_add(1, Ordering::SeqCst);
        // Until the sender is dropped.
        let _ = blocked.lock().unwrap().recv();
        async { Ok::<_, io::Error>(Credentials::password("any")) }
    };
    let proxy = Proxy::start(server.port());
    let builder = patient(proxy.url())
        .command_timeout(ms(20))
        .credentials(blocks);
    let client = builder.build().unwrap();

    let other = harness::client(server.url());
    let held = other.lock(KEY).ttl(ms(3_000)).acquire().await.unwrap();
    // More connections than the threads that may be blocked.
    while proxy.accepted() < 12 {
        let attempt = client.lock("order:43").wait(Duration::ZERO).acquire();
        let error = attempt.await.unwrap_err();
        assert!(error.is_unavailable(), "{error}");
        // The background thread renews it, and is not blocked.
        held.renew().await.unwrap();
    }
    let threads = asked.load(Ordering::SeqCst);
    assert!((1..=8).contains(&threads), "{threads} threads are blocked");
    held.release().await.unwrap();
    drop(unblock);
    let acquire = client.lock("order:43").wait(LONG).acquire();
    let guard = acquire.await.expect("the callback answers now");
    guard.release().await.unwrap();
}

#[tokio::test]
async fn file_is_read_for_each_connection() {
    let server = RedisServer::start();
    set_user(&server, "blue", "s3cret");
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("redis");
    // Programs that rotate secrets replace files like this.
    let replace = |text: &str| {
        let next = folder.path().join("next");
        fs::write(&next, text).unwrap();
        fs::rename(next, &path).unwrap();
    };
    replace("s3cret\n");
    let url = server.url().replace("://", "://blue@");
    let client = client_of(patient(url).credentials_file(&path));
    let held = soon(hold(&client)).await;

    set_user(&server, "green", "n3xt: s3cret");
    replace("green\nn3xt: s3cret\n");
    let _: i64 = ask(&mut server.connection(), &["ACL", "DELUSER", "blue"]);
    eventually("renewal", LONG, async || held.renew().await.is_ok()).await;
    held.release().await.expect("it was held throughout");
    assert_eq!(user_of(&client, &server).await, "green");

    let lacks = async |change: &dyn Fn(), reason: &str| {
        change();
        let kill = ["CLIENT", "KILL", "USER", "green"];
        let _: i64 = ask(&mut server.connection(), &kill);
        let words = format!("the file {} of the credentials {reason}", path.display());
        eventually(reason, LONG, async || {
            match client.lock(KEY).try_acquire().await {
                // The client had not yet seen the connection end.
                Ok(_) => false,
                Err(error) => {
                    assert!(error.is_unavailable(), "{error}");
                    assert!(!error.to_string().contains("s3cret"), "{error}");
                    error.to_string().contains(&words)
                }
            }
        })
        .await;
        replace("green\nn3xt: s3cret\n");
        cycle(&client).await;
    };
    lacks(&|| fs::remove_file(&path).unwrap(), "cannot be read: ").await;
    lacks(&|| fs::write(&path, b"\xff").unwrap(), "is not UTF-8").await;
}

#[test]
fn settings_that_cannot_be_used_are_refused_by_build() {
    let refused = |builder: LockClientBuilder, words: &str| {
        let error = failed(builder.build(), LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains(words), "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    };
    let builder = |url: &str| patient(url);
    let given = async || Ok::<_, io::Error>(Credentials::password("s3cret"));
    for url in [
        "redis://app:s3cret@localhost",
        "redis+unix:///redis.sock?pass=s3cret",
        "redis-cluster://app:s3cret@a,b",
        "redis-sentinel://app:s3cret@a,b#name",
        "redlock://app:s3cret@a,b,c",
    ] {
        refused(builder(url).credentials(given), "the URL has a password");
    }
    for url in [
        "redis://app@localhost",
        "redis-sentinel://a,b?sentinel_password=s3cret#name",
        "redlock://a,b,c",
        "memory://",
    ] {
        builder(url).credentials(given).build().unwrap();
    }
    let nowhere = "/nowhere/redis";
    let missing = "the file /nowhere/redis of the credentials cannot be read: ";
    refused(
        builder("redis://localhost").credentials_file(nowhere),
        missing,
    );
    builder("memory://")
        .credentials_file(nowhere)
        .build()
        .unwrap();
}

/// The audit names the user that logged in, not the one of the URL, which has none.
#[tokio::test]
async fn audit_names_the_user_of_the_connection() {
    let server = RedisServer::start();
    server.allow(&["+@all", "allkeys", "allchannels"]);
    set_user(&server, "green", "s3cret");
    set_user(&server, "blue", "n3xt");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials");
    fs::write(&path, "green\ns3cret\n").unwrap();
    let issuer = Issuer::of(Credentials::new("blue", "n3xt"));
    let of_file = client_of(patient(server.url()).credentials_file(&path));
    let of_url = server.url().replace("://", "://green:s3cret@");
    for (operator, user) in [
        (of_file, "green"),
        (issuer.client(server.url()), "blue"),
        (client_of(patient(of_url)), "green"),
        // Nobody is named: the server knows who it is.
        (client_of(patient(server.url())), "default"),
    ] {
        let holder = client_of(patient(server.url()));
        let guard = soon(hold(&holder)).await;
        harness::revoke(&operator, KEY, harness::token_of(&guard).await).await;
        let entries = harness::all_entries(operator.audit()).await;
        let last = entries.iter().map(|entry| &*entry.user).next_back();
        assert_eq!(last, Some(user));
        assert!(guard.release().await.unwrap_err().is_lost());
    }
}
