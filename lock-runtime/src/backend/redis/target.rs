//! Which server a URL means.

use redis::{ConnectionAddr, IntoConnectionInfo, ProtocolVersion, RedisConnectionInfo};

use crate::error::LockError;

/// A server over TCP, and who we are to it. It holds a password: no `Debug`.
pub(crate) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) login: RedisConnectionInfo,
}

impl Target {
    /// Reads `redis://[user:password@]host[:port][/database]`. Errors do not repeat the URL.
    pub(crate) fn parse(url: &str, require_tls: bool) -> Result<Target, LockError> {
        match url.split_once("://").map_or("", |(scheme, _)| scheme) {
            "redis" | "valkey" => {}
            "rediss" | "valkeys" => {
                return Err(LockError::invalid_options(
                    "this version does not speak TLS: `rediss://` needs the feature `tls`",
                ));
            }
            _ => {
                return Err(LockError::invalid_options(
                    "the URL must begin with redis:// or memory://",
                ));
            }
        }
        if require_tls {
            return Err(LockError::invalid_options(
                "the client requires TLS, and the URL begins with redis://",
            ));
        }
        let info = url.into_connection_info().map_err(|_| {
            LockError::invalid_options(
                "the URL must read redis://[user:password@]host[:port][/database]",
            )
        })?;
        let ConnectionAddr::Tcp(host, port) = info.addr().clone() else {
            return Err(LockError::invalid_options("the URL must name a host"));
        };
        // Pushes need RESP3. CLIENT SETINFO is spared: a minimal ACL does not allow it.
        let login = info
            .redis_settings()
            .clone()
            .set_protocol(ProtocolVersion::RESP3)
            .set_skip_set_lib_name();
        Ok(Target { host, port, login })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_host_port_user_and_database() {
        let target = Target::parse("redis://app:s3cret@10.0.0.7:6380/3", false).unwrap();
        assert_eq!((target.host.as_str(), target.port), ("10.0.0.7", 6380));
        assert_eq!(target.login.username(), Some("app"));
        assert_eq!(target.login.password(), Some("s3cret"));
        assert_eq!(target.login.db(), 3);
    }

    #[test]
    fn a_wrong_url_is_refused_without_repeating_its_password() {
        for url in [
            "redis://app:s3cret@host:port",
            "http://app:s3cret@host",
            "rediss://app:s3cret@host",
            "s3cret",
            "redis://app:s3cret@host/database",
        ] {
            let error = Target::parse(url, false).err().expect(url);
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn plain_tcp_is_refused_where_tls_is_required() {
        assert!(Target::parse("redis://127.0.0.1", true).is_err());
    }
}
