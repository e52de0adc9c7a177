//! Certificates, and servers that speak TLS.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use tempfile::TempDir;

use crate::{RedisServer, ask, port};

/// A CA of one test.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, both PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// When a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// Valid now.
    Now,
    /// Expired.
    Past,
    /// Not valid yet.
    Future,
}

impl Authority {
    /// A new CA that no client trusts yet.
    pub fn new() -> Authority {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Authority::named(&format!("lock-tests CA {number}"))
    }

    /// A new CA with this name, which another CA may have as well.
    pub fn named(name: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority = CertifiedIssuer::self_signed(params, key());
        Authority(authority.expect("a CA can sign itself"))
    }

    /// Its own certificate, PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for hosts, or for a client.
    pub fn issue(&self, names: &[&str], validity: Validity) -> Identity {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("the names are valid");
        let (from, to) = match validity {
            Validity::Now => (1990, 2190),
            Validity::Past => (1990, 2000),
            Validity::Future => (2180, 2190),
        };
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        let key = key();
        let certificate = params
            .signed_by(&key, &self.0)
            .expect("the CA signs everything");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }

    /// A certificate for servers of this machine.
    pub fn local(&self) -> Identity {
        self.issue(&["localhost", "127.0.0.1"], Validity::Now)
    }
}

impl Default for Authority {
    fn default() -> Authority {
        Authority::new()
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("there is entropy")
}

/// A [`RedisServer`] with a second port for TLS.
#[derive(Debug)]
pub struct TlsServer {
    plain: RedisServer,
    port: u16,
    files: TempDir,
}

impl TlsServer {
    /// A server with a certificate of `authority` for `localhost` and `127.0.0.1`, which takes
    /// clients without one.
    pub fn start(authority: &Authority) -> TlsServer {
        TlsServer::with(authority, &authority.local())
    }

    /// An authority, and a server with a certificate of it.
    pub fn with_authority() -> (Authority, TlsServer) {
        let authority = Authority::new();
        let server = TlsServer::start(&authority);
        (authority, server)
    }

    /// A server with this certificate; clients' are checked against `authority`.
    pub fn with(authority: &Authority, identity: &Identity) -> TlsServer {
        let files = TempDir::new().expect("a temporary folder can be made");
        let plain = RedisServer::start();
        let port = listen(&plain, files.path(), authority, identity);
        TlsServer { plain, port, files }
    }

    /// The port for TLS.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.port)
    }

    /// The same server without TLS.
    pub fn plain(&self) -> &RedisServer {
        &self.plain
    }

    /// Shows another certificate from now on.
    pub fn present(&self, identity: &Identity) {
        self.configure(identity, &[]);
    }

    /// Whether clients must have a certificate.
    pub fn ask_for_certificates(&self, ask: bool) {
        let value = if ask { "yes" } else { "no" };
        self.plain.config_set("tls-auth-clients", value);
    }

    fn configure(&self, identity: &Identity, more: &[&str]) {
        configure(&self.plain, self.files.path(), identity, more);
    }
}

/// Has a server listen for TLS as well, with this certificate. Returns the port.
///
/// # Panics
///
/// When no port can be had.
pub fn listen(
    server: &RedisServer,
    files: &Path,
    authority: &Authority,
    identity: &Identity,
) -> u16 {
    let ca = file(files, "ca.pem", &authority.pem());
    let more = ["tls-ca-cert-file", &ca, "tls-auth-clients", "no"];
    configure(server, files, identity, &more);
    // Another process may bind a free port first.
    for _ in 0..10 {
        let port = port::free();
        let set = ["CONFIG", "SET", "tls-port", &port.to_string()];
        let mut connection = server.connection();
        let set = redis::cmd(set[0]).arg(&set[1..]).exec(&mut connection);
        if set.is_ok() {
            return port;
        }
    }
    panic!("the server does not listen for TLS");
}

fn configure(server: &RedisServer, folder: &Path, identity: &Identity, more: &[&str]) {
    let certificate = file(folder, "server.pem", &identity.certificate);
    let key = file(folder, "server.key", &identity.key);
    let files = ["tls-cert-file", &certificate, "tls-key-file", &key];
    // All at once, since the server checks that they match.
    let words = [&["CONFIG", "SET"][..], &files, more].concat();
    let _: () = ask(&mut server.connection(), &words);
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    write_file(folder, name, text)
        .into_os_string()
        .into_string()
        .expect("temporary folders have plain names")
}

/// Writes a file and returns its path.
///
/// # Panics
///
/// When it cannot be written.
pub fn write_file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("the folder can be written to");
    path
}
