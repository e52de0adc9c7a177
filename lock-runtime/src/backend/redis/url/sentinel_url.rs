//! The parts that only URLs of sentinels have.

use redis::RedisConnectionInfo;

use super::endpoint::connection_login;
use super::form::PRIMARY;
use super::parts::{Login, Parts};
use crate::error::LockError;

/// The primary's name, and the sentinels' own login.
pub(super) struct SentinelUrl {
    /// The name of the primary.
    pub(super) name: String,
    /// The login for the sentinels.
    pub(super) login: RedisConnectionInfo,
    /// Whether the sentinels are reached without TLS, although the primary is reached with it.
    pub(super) without_tls: bool,
}

impl SentinelUrl {
    pub(super) fn of(url: &Parts) -> Result<SentinelUrl, LockError> {
        let refused = |reason: &str| Err(LockError::invalid_options(reason));
        let by_end = url.name.as_deref().filter(|name| !name.is_empty());
        let by_id = url.parameter(PRIMARY);
        let name = match (by_end, by_id.filter(|name| !name.is_empty())) {
            (Some(name), Some(id)) if name != id => {
                return refused(
                    "a redis-sentinel:// URL has two names of the primary, after # and as sentinelMasterId; a `#` in a \
                     password is written %23",
                );
            }
            (Some(name), _) | (None, Some(name)) => name.to_owned(),
            (None, None) => {
                return refused(
                    "a redis-sentinel:// URL must end with # and the name of the primary; a `#` in a \
                     password is written %23",
                );
            }
        };
        let without_tls = match url.parameter("sentinel_tls") {
            None => false,
            Some("false") => true,
            Some(_) => {
                return refused(
                    "sentinel_tls can only be false: with rediss-sentinel://, sentinels are reached over TLS",
                );
            }
        };
        let value = |name| url.parameter(name).map(str::to_owned);
        let login = Login {
            user: value("sentinel_user"),
            password: value("sentinel_password"),
        };
        Ok(SentinelUrl {
            name,
            login: connection_login(Some(&login), 0),
            without_tls,
        })
    }
}
