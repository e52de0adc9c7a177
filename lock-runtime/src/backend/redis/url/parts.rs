//! Splits a URL into its parts, by rules that hold for all forms.
//!
//! A character that separates parts is refused in a user or a password unless it is percent-encoded. So no part of a
//! password is ever taken for a host, a port or a name, which would be looked up, logged and shown. Errors contain
//! neither user nor password.

use super::form::{Form, PRIMARY};
use super::percent::decode;
use crate::error::LockError;
use crate::state::is_printable;

const SCHEMES: &str = "the URL must begin with redis://, rediss://, redis-cluster://, redis-sentinel://, \
                       redlock://, redis+unix:// or memory://";

const BLANK: &str =
    "the URL has white space or an invisible character in it; a space in a password is written %20";

const ENCODING: &str = "in a user or password, `@` is written %40, `:` %3A, `/` %2F, `?` %3F, `#` %23, `,` %2C, \
                        `&` %26, `%` %25 and a space %20";

/// The parts of a URL of servers, decoded. No `Debug`, since some are passwords.
pub(crate) struct Parts {
    pub(super) form: Form,
    /// The text before the colon, in lower case.
    pub(super) scheme: String,
    pub(super) is_encrypted: bool,
    /// At least one, except that a socket's URL has none.
    pub(super) hosts: Vec<Host>,
    /// The path of a socket, or the database of a host.
    pub(super) path: String,
    /// The names are among [`Form::parameters`], and no name is repeated.
    parameters: Vec<(&'static str, String)>,
    /// The name of the primary, at the end of the URL.
    pub(super) name: Option<String>,
}

/// A host of a URL, and the login before it.
pub(super) struct Host {
    pub(super) login: Option<Login>,
    pub(super) name: String,
    pub(super) port: Option<u16>,
}

/// A user and a password, if the URL has them.
#[derive(Clone)]
pub(super) struct Login {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

/// Removes white space around a URL, such as the line feed at the end of a file. Spaces inside are only allowed in the
/// path of a socket, which contains no password.
pub(crate) fn trim(url: &str) -> Result<&str, LockError> {
    let url = url.trim();
    let end_of_path = url.find(['?', '#']).unwrap_or(url.len());
    let path = match url.split_once(":///") {
        Some((scheme, _)) if matches!(Form::of_scheme(scheme), Some((Form::Socket, _))) => {
            scheme.len()..end_of_path
        }
        _ => 0..0,
    };
    let is_wrong = |(at, c): (usize, char)| match c {
        ' ' => !path.contains(&at),
        c => c.is_whitespace() || !is_printable(c),
    };
    if url.char_indices().any(is_wrong) {
        return Err(LockError::invalid_options(BLANK));
    }
    Ok(url)
}

impl Parts {
    /// Splits a URL that was [trimmed](trim).
    pub(crate) fn of(url: &str) -> Result<Parts, LockError> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (form, is_encrypted) =
            Form::of_scheme(scheme).ok_or_else(|| LockError::invalid_options(SCHEMES))?;
        let (rest, fragment) = split_before(rest, &['#']);
        let (rest, parameters) = split_before(rest, &['?']);
        let (authority, path) = match form {
            Form::Socket => ("", rest),
            _ => split_before(rest, &['/']),
        };
        let name = name(form, fragment)?;
        // An `@` here would be the end of a login.
        let has_at = path.contains('@') || parameters.contains('@');
        if form != Form::Socket && has_at {
            return Err(malformed(form));
        }
        Ok(Parts {
            form,
            scheme: scheme.to_ascii_lowercase(),
            is_encrypted,
            hosts: hosts(form, scheme, authority)?,
            parameters: self::parameters(form, parameters)?,
            path: match form {
                Form::Socket => socket(path)?,
                _ => database(path).to_owned(),
            },
            name,
        })
    }

    /// Returns the value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        parameters.find_map(|(known, value)| (*known == name).then_some(&**value))
    }

    /// Returns the error of a URL that does not match its form.
    pub(super) fn malformed(&self) -> LockError {
        malformed(self.form)
    }
}

fn malformed(form: Form) -> LockError {
    let pattern = form.pattern();
    LockError::invalid_options(format!("the URL must read {pattern}; {ENCODING}"))
}

/// Splits the text before the first of `marks`.
fn split_before<'a>(text: &'a str, marks: &[char]) -> (&'a str, &'a str) {
    text.split_at(text.find(marks).unwrap_or(text.len()))
}

/// Parses the text after `#`. A primary's name may have few characters, so that no end of a password is taken for it.
fn name(form: Form, fragment: &str) -> Result<Option<String>, LockError> {
    let Some(name) = fragment.strip_prefix('#') else {
        return Ok(None);
    };
    if form != Form::Sentinels {
        return Err(LockError::invalid_options(
            "the URL takes nothing after `#`, and certificates are always verified; a `#` in a password is written %23",
        ));
    }
    primary(name).map(Some)
}

/// Decodes the percent-encoded name of a primary.
fn primary(name: &str) -> Result<String, LockError> {
    const OTHER: &str = "the name of a primary has letters, digits, `.`, `-` and `_`, and any other character \
                         percent-encoded; a `#` in a password is written %23";
    let is_usual = |c: char| c.is_ascii_alphanumeric() || ".-_%".contains(c);
    let decoded = decode(name)?;
    if !name.chars().all(is_usual) || !decoded.chars().all(is_printable) {
        return Err(LockError::invalid_options(OTHER));
    }
    Ok(decoded)
}

/// Returns the database in a path, which may end with a slash.
fn database(path: &str) -> &str {
    let path = path.strip_prefix('/').unwrap_or_default();
    match path.strip_suffix('/') {
        Some(database) if !database.is_empty() => database,
        _ => path,
    }
}

fn hosts(form: Form, scheme: &str, authority: &str) -> Result<Vec<Host>, LockError> {
    if form == Form::Socket {
        return Ok(Vec::new());
    }
    let logins = authority.matches('@').count();
    let hosts = match authority.split_once('@') {
        Some((_, hosts)) => hosts,
        None => authority,
    };
    let all = authority.split(',');
    let is_clear = match logins {
        0 => true,
        // With a single login, a `,` in it could also separate two nodes.
        1 => all.clone().next().is_some_and(|first| first.contains('@')),
        // Each node of a quorum may have its own login. If some had none, a password with `@` and `,` could be split
        // into nodes.
        _ => {
            form == Form::Quorum
                && all
                    .clone()
                    .all(|host| host.matches('@').count() == 1 && has_password(host))
        }
    };
    if !is_clear {
        return Err(malformed(form));
    }
    if form == Form::Server && hosts.contains(',') {
        let scheme = scheme.to_ascii_lowercase();
        return Err(LockError::invalid_options(format!(
            "a {scheme}:// URL names one server; redis-cluster://, redis-sentinel:// and redlock:// name several"
        )));
    }
    all.map(|host| self::host(form, host)).collect()
}

fn has_password(host: &str) -> bool {
    let login = host.split('@').next().unwrap_or_default();
    login.contains(':')
}

fn host(form: Form, text: &str) -> Result<Host, LockError> {
    let (login, address) = match text.split_once('@') {
        Some((login, address)) => (Some(self::login(login)?), address),
        None => (None, text),
    };
    let (name, port) = match address.strip_prefix('[') {
        Some(address) => address
            .split_once(']')
            .filter(|(name, _)| name.parse::<std::net::Ipv6Addr>().is_ok())
            .ok_or_else(|| malformed(form))?,
        None => {
            let (name, port) = split_before(address, &[':']);
            let is_usual = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
            if name.is_empty() || !name.chars().all(is_usual) {
                return Err(malformed(form));
            }
            (name, port)
        }
    };
    let port = match port {
        "" | ":" => None,
        port => {
            let port = port.strip_prefix(':').and_then(digits::<u16>);
            let port = port.filter(|&port| port != 0);
            Some(port.ok_or_else(|| malformed(form))?)
        }
    };
    let name = name.to_owned();
    Ok(Host { login, name, port })
}

fn login(text: &str) -> Result<Login, LockError> {
    let (user, password) = match text.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (text, None),
    };
    let some = |text: &str| match text {
        "" => Ok(None),
        text => decode(text).map(Some),
    };
    Ok(Login {
        user: some(user)?,
        password: password.map_or(Ok(None), some)?,
    })
}

/// Returns the path of a socket, whose parameters follow a `?`.
fn socket(path: &str) -> Result<String, LockError> {
    let is_clear = path.starts_with('/') && !path.contains('&');
    let path = decode(path)?;
    if !is_clear || !path.chars().all(is_printable) {
        return Err(malformed(Form::Socket));
    }
    Ok(path)
}

fn parameters(form: Form, text: &str) -> Result<Vec<(&'static str, String)>, LockError> {
    let mut parameters: Vec<(&'static str, String)> = Vec::new();
    let text = text.strip_prefix('?').unwrap_or_default();
    for parameter in text.split('&').filter(|text| !text.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let known = form.parameters().iter().find(|known| **known == name);
        let known = known.ok_or_else(|| {
            let known = form.parameters().join(", ");
            LockError::invalid_options(format!(
                "the URL takes no parameters but {known}; {ENCODING}"
            ))
        })?;
        if parameters.iter().any(|(name, _)| name == known) {
            return Err(LockError::invalid_options(format!(
                "the URL has the parameter {known} twice"
            )));
        }
        let value = match *known {
            PRIMARY => primary(value)?,
            _ => decode(value)?,
        };
        parameters.push((*known, value));
    }
    Ok(parameters)
}

/// Parses a number without a sign, which `parse` alone would accept.
pub(super) fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}
