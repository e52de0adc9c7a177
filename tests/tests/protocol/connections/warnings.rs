//! Warnings that are logged once per server: the server may evict locks, or its connection is not encrypted.

use std::io::Write;
use std::net::UdpSocket;
use std::sync::{Mutex, OnceLock};

use harness::{Authority, RedisServer, patient};

use super::*;

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Writer;

impl Write for Writer {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        TEXT.lock().expect("no writer panics").write(text)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Records the warnings of this process from now on.
pub(crate) fn record() {
    static RECORDING: OnceLock<()> = OnceLock::new();
    RECORDING.get_or_init(|| {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::WARN)
            .with_writer(|| Writer)
            .with_ansi(false)
            .finish();
        tracing::subscriber::set_global_default(subscriber).expect("it is the only one");
    });
}

/// The warnings of this name that contain `words`, such as a server's address.
pub(crate) fn warnings(name: &str, words: &str) -> Vec<String> {
    let text = TEXT.lock().expect("no writer panics");
    let text = String::from_utf8_lossy(&text).into_owned();
    let about = |line: &&str| line.contains(name) && line.contains(words);
    text.lines().filter(about).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_server_that_may_evict_locks_is_warned_of_once() {
    record();
    let evicting = RedisServer::builder()
        .config("maxmemory", "100mb")
        .config("maxmemory-policy", "volatile-lru")
        .start();
    let safe = RedisServer::builder().config("maxmemory", "100mb").start();
    for server in [&evicting, &safe] {
        server.allow(&["+info"]);
        // Not the usual address: a server of another test may have used this port before.
        let url = server.url().replace("127.0.0.1", "localhost");
        for _ in 0..2 {
            cycle(&patient(url.as_str()).connect().await.unwrap()).await;
        }
    }
    let name = |server: &RedisServer| server.address().replace("127.0.0.1", "localhost");
    let told = warnings("locks_may_be_evicted", &name(&evicting));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("volatile-lru") && told[0].contains("WARN"),
        "{told:?}"
    );
    assert!(warnings("locks_may_be_evicted", &name(&safe)).is_empty());
}

#[tokio::test]
async fn a_user_without_the_right_to_check_is_not_warned_and_works() {
    record();
    let server = RedisServer::builder()
        .config("maxmemory", "100mb")
        .config("maxmemory-policy", "allkeys-lru")
        .start();
    let url = server.user("app", "x", &["~*", "&*", "+@all", "-info"]);
    cycle(&patient(url).connect().await.unwrap()).await;
    assert!(warnings("locks_may_be_evicted", &server.address()).is_empty());
}

/// An address of this machine other than the loopback's; `None` without a network. Nothing is sent: connecting a
/// datagram socket only consults the routing table.
fn own_address() -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback()).then(|| address.to_string())
}

#[tokio::test]
async fn plain_tcp_to_another_machine_is_warned_of_once() {
    record();
    let Some(host) = own_address() else {
        eprintln!("this machine has the loopback address alone: nothing can look remote");
        return;
    };
    let authority = Authority::new();
    let identity = authority.issue(&["127.0.0.1", &host], harness::Validity::Now);
    let server = TlsServer::with(&authority, &identity);
    let plain = server.plain();
    plain.config_set("protected-mode", "no");
    plain.config_set("bind", &format!("127.0.0.1 {host}"));
    let remote = |port: u16| format!("{host}:{port}");

    cycle(&client(plain.url())).await;
    let over_tls = format!("rediss://{}", remote(server.port()));
    cycle(&trusting(over_tls, authority.pem()).build().unwrap()).await;
    for port in [plain.port(), server.port()] {
        let told = warnings("connection_in_the_clear", &format!(":{port}"));
        assert!(told.is_empty(), "{told:?}");
    }
    let url = format!("redis://:s3cret@{}", remote(plain.port()));
    plain.config_set("requirepass", "s3cret");
    for _ in 0..2 {
        cycle(&client(url.as_str())).await;
    }
    let told = warnings("connection_in_the_clear", &remote(plain.port()));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("WARN") && told[0].contains("rediss://"),
        "{told:?}"
    );
    assert!(!told[0].contains("s3cret"), "{told:?}");
}
