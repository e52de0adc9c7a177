//! Locks over TLS.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;

use harness::{Authority, RedisServer, Validity, patient};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};

use super::*;

#[tokio::test]
async fn a_server_is_known_by_its_name_or_address() {
    let (authority, server) = TlsServer::with_authority();
    server.plain().allow(&["+select"]);
    let port = server.port();
    for host in ["localhost", "127.0.0.1"] {
        for scheme in ["rediss", "valkeys"] {
            let url = format!("{scheme}://{host}:{port}/3");
            let client = trusting(url, authority.pem()).connect().await.unwrap();
            cycle(&client).await;
        }
    }
}

#[tokio::test]
async fn a_certificate_is_presented_to_a_server_that_asks() {
    let (authority, server) = TlsServer::with_authority();
    server.ask_for_certificates(true);
    let own = authority.issue(&["orders"], Validity::Now);
    let client = trusting(server.url(), authority.pem())
        .client_certificate(&own.certificate, &own.key)
        .connect()
        .await
        .unwrap();
    cycle(&client).await;
}

#[tokio::test]
async fn several_authorities_may_be_trusted() {
    let (one, other) = (Authority::new(), Authority::new());
    let servers = [TlsServer::start(&one), TlsServer::start(&other)];
    let bundle = format!("{}{}", one.pem(), other.pem());
    for server in &servers {
        cycle(&trusting(server.url(), &bundle).build().unwrap()).await;
        let twice = trusting(server.url(), one.pem()).ca_certificate(other.pem());
        cycle(&twice.build().unwrap()).await;
    }
}

#[tokio::test]
async fn a_tls_client_does_not_fall_back_to_a_plain_port() {
    let server = RedisServer::start();
    let mut monitor = server.monitor();
    let url = server.url().replace("redis://", "rediss://");
    let builder = trusting(url, Authority::new().pem()).command_timeout(ms(300));
    let error = builder.clone().connect().await.unwrap_err();
    assert!(error.is_unavailable() || error.is_rejected(), "{error}");
    assert!(error.to_string().contains("TLS"), "{error}");
    let client = builder.build().unwrap();
    let error = client.lock(KEY).wait(ms(700)).acquire().await.unwrap_err();
    assert!(error.is_unavailable() || error.is_rejected(), "{error}");
    assert_eq!(monitor.take(), [], "it was asked without TLS");
}

#[tokio::test]
async fn a_plain_client_gets_an_error_that_the_port_requires_tls() {
    let (_, server) = TlsServer::with_authority();
    let url = server.url().replace("rediss://", "redis://");
    let error = patient(url).connect().await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(error.to_string().contains("rediss://"), "{error}");
}

/// The process's default crypto provider belongs to the application: the client neither needs nor sets it.
#[tokio::test]
async fn the_default_crypto_provider_is_not_changed() {
    let (authority, server) = TlsServer::with_authority();
    assert!(CryptoProvider::get_default().is_none());
    cycle(&trusting(server.url(), authority.pem()).build().unwrap()).await;
    assert!(CryptoProvider::get_default().is_none(), "one was installed");

    // A provider without any cipher suites.
    let useless = CryptoProvider {
        cipher_suites: Vec::new(),
        kx_groups: Vec::new(),
        ..ring::default_provider()
    };
    useless.install_default().unwrap();
    cycle(&trusting(server.url(), authority.pem()).build().unwrap()).await;
    let default = CryptoProvider::get_default().expect("it is installed");
    assert!(default.cipher_suites.is_empty(), "it was replaced");
}

/// An orderly close leaves the closing side in TIME-WAIT. A reset connection is gone at once, with all
/// unsent data.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_teardown_is_a_reset() {
    let (authority, server) = TlsServer::with_authority();
    // The plain one first: the server that answers over TLS opens connections to the plain port, too.
    let clients = [
        (
            server.plain().port(),
            harness::patient(server.plain().url()),
        ),
        (server.port(), trusting(server.url(), authority.pem())),
    ];
    for (port, builder) in clients {
        let client = builder.build().unwrap();
        cycle(&client).await;
        let own = our_ports(port);
        assert_eq!(
            own.len(),
            1,
            "one connection to {port}, not those from {own:?}"
        );
        drop(client);
        harness::eventually("end of the connection", LONG, async || {
            states(port, own[0]).iter().all(|&state| state == TIME_WAIT)
        })
        .await;
        assert!(
            states(port, own[0]).is_empty(),
            "it was closed in good order"
        );
    }
}

#[cfg(target_os = "linux")]
const ESTABLISHED: u8 = 1;
#[cfg(target_os = "linux")]
const TIME_WAIT: u8 = 6;

/// Local port, remote port, state and inode of every TCP socket of this machine. The kernel lists them in pieces, and
/// may list one of them twice if others are opened meanwhile.
#[cfg(target_os = "linux")]
fn sockets() -> BTreeSet<(u16, u16, u8, String)> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let hex = |text: &str| u16::from_str_radix(text.rsplit(':').next().unwrap(), 16).unwrap();
    let lines = table.lines().skip(1);
    let socket = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let state = u8::from_str_radix(words[3], 16).unwrap();
        (hex(words[1]), hex(words[2]), state, words[9].to_owned())
    };
    lines.map(socket).collect()
}

/// The local ends of this process's open connections to `port`.
#[cfg(target_os = "linux")]
fn our_ports(port: u16) -> Vec<u16> {
    let files = std::fs::read_dir("/proc/self/fd").unwrap();
    // A file may be closed while they are listed.
    let links = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    let ours: Vec<String> = links.map(|link| link.display().to_string()).collect();
    let all = sockets().into_iter();
    all.filter(|(_, remote, state, _)| (*remote, *state) == (port, ESTABLISHED))
        .filter(|(.., inode)| ours.contains(&format!("socket:[{inode}]")))
        .map(|(local, ..)| local)
        .collect()
}

#[cfg(target_os = "linux")]
fn states(port: u16, own: u16) -> Vec<u8> {
    let all = sockets().into_iter();
    all.filter(|&(local, remote, ..)| (local, remote) == (own, port))
        .map(|(_, _, state, _)| state)
        .collect()
}
