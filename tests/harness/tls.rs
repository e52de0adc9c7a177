//! Certificates, and servers that speak TLS.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose,
    GeneralSubtree, IsCa, KeyPair, KeyUsagePurpose, NameConstraints, date_time_ymd,
};
use tempfile::TempDir;

use crate::{RedisServer, ask, port};

/// A CA of one test.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, both PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

/// The validity period of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    Now,
    Past,
    Future,
}

/// Why a certificate of a trusted CA does not verify, although it is for the right host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// It has no subjectAltName.
    NoNames,
    /// It is a CA's certificate.
    OfAuthority,
    /// It has X.509 version 1.
    FirstVersion,
    /// It is only for clients.
    ForClients,
}

impl Authority {
    /// A new CA that no client trusts yet.
    pub fn new() -> Authority {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Authority::named(&format!("lock-tests CA {number}"))
    }

    /// A new CA with this name, which another CA may share.
    pub fn named(name: &str) -> Authority {
        Authority::of(name, CertificateParams::default())
    }

    /// A new CA that may sign only for this domain.
    pub fn of_domain(domain: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: vec![GeneralSubtree::DnsName(domain.to_owned())],
            excluded_subtrees: Vec::new(),
        });
        Authority::of(domain, params)
    }

    fn of(name: &str, mut params: CertificateParams) -> Authority {
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority = CertifiedIssuer::self_signed(params, key());
        Authority(authority.expect("a CA can sign itself"))
    }

    /// The CA's own certificate, PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Issues a certificate for hosts, or for a client.
    pub fn issue(&self, names: &[&str], validity: Validity) -> Identity {
        let mut params = params(names);
        let (from, to) = match validity {
            Validity::Now => (1990, 2190),
            Validity::Past => (1990, 2000),
            Validity::Future => (2180, 2190),
        };
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        self.sign(params)
    }

    /// A certificate for servers of this machine that does not verify.
    pub fn flawed(&self, flaw: Flaw) -> Identity {
        let mut params = params(&LOCAL);
        match flaw {
            Flaw::NoNames => {
                params = self::params(&[]);
                let name = &mut params.distinguished_name;
                name.push(DnType::CommonName, "127.0.0.1");
            }
            Flaw::OfAuthority => params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
            Flaw::ForClients => {
                params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
            }
            Flaw::FirstVersion => {
                let mut identity = self.sign(params);
                // The version in base64: 2 means the third. The signature then no longer fits, but
                // the version is checked first.
                let (third, first) = ("AwIBAg", "AwIBAA");
                assert!(identity.certificate.contains(third), "a certificate");
                identity.certificate = identity.certificate.replacen(third, first, 1);
                return identity;
            }
        }
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Identity {
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
        self.issue(&LOCAL, Validity::Now)
    }
}

impl Default for Authority {
    fn default() -> Authority {
        Authority::new()
    }
}

/// The names of this machine.
const LOCAL: [&str; 2] = ["localhost", "127.0.0.1"];

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    CertificateParams::new(names).expect("the names are valid")
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
    /// A server with a certificate of `authority` for `localhost` and `127.0.0.1`, which accepts
    /// clients without one.
    pub fn start(authority: &Authority) -> TlsServer {
        TlsServer::with(authority, &authority.local())
    }

    /// An authority, and a server with its certificate.
    pub fn with_authority() -> (Authority, TlsServer) {
        let authority = Authority::new();
        let server = TlsServer::start(&authority);
        (authority, server)
    }

    /// A server with this certificate, which checks clients' certificates against `authority`.
    pub fn with(authority: &Authority, identity: &Identity) -> TlsServer {
        let files = TempDir::new().expect("a temporary folder can be made");
        let plain = RedisServer::start();
        let port = listen(&plain, files.path(), authority, identity);
        TlsServer { plain, port, files }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.port)
    }

    /// The same server without TLS.
    pub fn plain(&self) -> &RedisServer {
        &self.plain
    }

    /// Presents another certificate from now on.
    pub fn present(&self, identity: &Identity) {
        configure(&self.plain, self.files.path(), identity, &[]);
    }

    /// Whether clients must have a certificate.
    pub fn ask_for_certificates(&self, ask: bool) {
        let value = if ask { "yes" } else { "no" };
        self.plain.config_set("tls-auth-clients", value);
    }
}

/// Makes a server also listen for TLS, with this certificate. Returns the port.
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
    // All in one command, since the server checks that they match.
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
pub fn write_file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("the folder can be written to");
    path
}
