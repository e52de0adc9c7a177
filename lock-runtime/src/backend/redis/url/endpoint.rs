//! The addresses and logins of a URL.

use redis::{ProtocolVersion, RedisConnectionInfo};

use super::form::Form;
use super::parts::{Host, Login, Parts, digits};
use crate::backend::redis::address::Address;
use crate::backend::redis::tls::{self, Tls};
use crate::config::Options;
use crate::error::LockError;

/// The default port of a server.
pub(super) const PORT: u16 = 6379;

/// Refuses a URL without TLS if the client requires it, or has certificates. A unix socket is allowed: nothing leaves
/// the machine.
pub(super) fn check_tls(url: &Parts, options: &Options) -> Result<(), LockError> {
    if url.is_encrypted || url.form == Form::Socket {
        return Ok(());
    }
    if options.require_tls {
        let scheme = &url.scheme;
        let encrypted = match scheme.split_once('-') {
            Some((servers, kind)) => format!("{servers}s-{kind}"),
            None => format!("{scheme}s"),
        };
        return Err(LockError::invalid_options(format!(
            "the client requires TLS, and the URL begins with {scheme}:// instead of {encrypted}://"
        )));
    }
    tls::refuse_unused(options)
}

/// Returns the addresses of a URL's hosts. `port` is for hosts without one.
pub(super) fn addresses(
    url: &Parts,
    port: u16,
    options: &Options,
) -> Result<Vec<Address>, LockError> {
    let hosts = url.hosts.iter();
    hosts
        .map(|host| address(host, port, url.is_encrypted, options))
        .collect()
}

pub(super) fn address(
    host: &Host,
    port: u16,
    is_encrypted: bool,
    options: &Options,
) -> Result<Address, LockError> {
    let tls = is_encrypted.then(|| Tls::new(&host.name, options));
    Ok(Address::Tcp {
        host: host.name.clone(),
        port: host.port.unwrap_or(port),
        tls: tls.transpose()?,
    })
}

/// Returns the login before the first host, which applies to all hosts.
pub(super) fn login_of_first(url: &Parts) -> Result<RedisConnectionInfo, LockError> {
    let login = url.hosts.first().and_then(|host| host.login.as_ref());
    Ok(connection_login(login, database(url, &url.path)?))
}

/// Parses the database in a part of the URL; 0 if the part is empty.
pub(super) fn database(url: &Parts, text: &str) -> Result<i64, LockError> {
    match text {
        "" => Ok(0),
        text => digits(text).ok_or_else(|| url.malformed()),
    }
}

pub(super) fn connection_login(login: Option<&Login>, database: i64) -> RedisConnectionInfo {
    // Pushes need RESP3. CLIENT SETINFO is skipped, since users with minimal permissions may not run it.
    let mut info = RedisConnectionInfo::default()
        .set_db(database)
        .set_protocol(ProtocolVersion::RESP3)
        .set_skip_set_lib_name();
    let Some(Login { user, password }) = login else {
        return info;
    };
    if let Some(user) = user {
        // Without a password HELLO would omit the user, and the server would log the connection in as its default user.
        info = info.set_username(user).set_password("");
    }
    if let Some(password) = password {
        info = info.set_password(password);
    }
    info
}
