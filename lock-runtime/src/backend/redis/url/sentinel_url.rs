//! The parts of a URL of sentinels that other URLs do not have.

use redis::RedisConnectionInfo;

/// The parts of `[user[:password]@]host[:port][,host[:port]…][/database][?…]#name`.
pub(super) struct SentinelUrl<'a> {
    /// What precedes the parameters.
    pub(super) servers: &'a str,
    /// The name of the primary.
    pub(super) name: String,
    /// The login at the sentinels.
    pub(super) login: RedisConnectionInfo,
    /// Whether the sentinels are reached without TLS where the primary is reached with it.
    pub(super) without_tls: bool,
}

impl SentinelUrl<'_> {
    /// Refuses a URL by a sentence that does not repeat it.
    pub(super) fn parse(rest: &str) -> Result<SentinelUrl<'_>, &'static str> {
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (servers, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (mut by_id, mut user, mut password, mut tls) = (None, None, None, None);
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let place = match name {
                "sentinelMasterId" => &mut by_id,
                "sentinel_user" => &mut user,
                "sentinel_password" => &mut password,
                "sentinel_tls" => &mut tls,
                _ => {
                    return Err(
                        "a redis-sentinel:// URL takes the parameters sentinelMasterId, sentinel_user, \
                         sentinel_password, sentinel_tls, wait_replicas and replica_timeout alone",
                    );
                }
            };
            if place.replace(decode(value)?).is_some() {
                return Err("a redis-sentinel:// URL has a parameter twice");
            }
        }
        let by_fragment = Some(decode(fragment)?).filter(|name| !name.is_empty());
        let by_id = by_id.filter(|name| !name.is_empty());
        let name = match (by_fragment, by_id) {
            (Some(name), Some(id)) if name != id => {
                return Err(
                    "a redis-sentinel:// URL has two names of the primary, after # and as sentinelMasterId",
                );
            }
            (Some(name), _) | (None, Some(name)) => name,
            (None, None) => {
                return Err(
                    "a redis-sentinel:// URL must end with # and the name of the primary; a `#` in a \
                     password is written %23",
                );
            }
        };
        let without_tls = match tls.as_deref() {
            None => false,
            Some("false") => true,
            Some(_) => {
                return Err(
                    "sentinel_tls can only be false: with rediss-sentinel://, sentinels are reached over TLS",
                );
            }
        };
        let mut login = RedisConnectionInfo::default();
        if let Some(user) = user {
            login = login.set_username(user);
        }
        if let Some(password) = password {
            login = login.set_password(password);
        }
        Ok(SentinelUrl {
            servers,
            name,
            login,
            without_tls,
        })
    }
}

/// The text that is percent-encoded. A plus stands for itself.
fn decode(text: &str) -> Result<String, &'static str> {
    const MALFORMED: &str =
        "a redis-sentinel:// URL has a name or a parameter that is not percent-encoded";
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = rest
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or(MALFORMED)?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| MALFORMED)
}
