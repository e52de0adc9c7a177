//! Tracks the boot of each node: one run of its server process.

use std::collections::BTreeMap;

use redis::Value;

use crate::backend::redis::address::Address;
use crate::backend::wire::error::WireError;
use crate::background::sync::Mutex;
use crate::telemetry;

/// Stands for the boot of a server that does not report it.
const UNKNOWN: &str = "-";

/// The number of bytes of a boot that the node stores.
const LENGTH: usize = 16;

/// The boots of a quorum's nodes, by address.
#[derive(Debug)]
pub(in crate::backend::redis) struct Boots {
    /// Whether a restart may lose data, so that each boot must be known.
    are_needed: bool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_address: BTreeMap<String, String>,
    /// The error of the second node, if two nodes were found to be the same server.
    same: Option<WireError>,
}

impl Boots {
    pub(super) fn new(are_needed: bool) -> Boots {
        Boots {
            are_needed,
            known: Mutex::default(),
        }
    }

    /// Fails if two nodes were found to be the same server.
    pub(super) fn check_all(&self) -> Result<(), WireError> {
        self.known.lock().same.clone().map_or(Ok(()), Err)
    }

    /// Returns the boot of the server at `address`, from its answer to `INFO server`. If boots do not matter, all
    /// servers have the same one. Two nodes with one boot are the same server, so the second is refused.
    pub(in crate::backend::redis) fn check(
        &self,
        address: &Address,
        answer: Value,
    ) -> Result<String, WireError> {
        let info = answer.extract_error().ok();
        let info = info.and_then(|info| redis::from_redis_value::<String>(info).ok());
        let boot = info.as_deref().and_then(boot_of).unwrap_or(UNKNOWN);
        let address = address.to_string();
        if boot == UNKNOWN {
            return if self.are_needed {
                Err(WireError::refused(format!(
                    "{address} does not tell which run of the server it is: the user needs the permission +info"
                )))
            } else {
                Ok(boot.to_owned())
            };
        }
        let mut known = self.known.lock();
        let mut others = known.by_address.iter();
        if let Some((other, _)) = others.find(|(other, known)| **other != address && *known == boot)
        {
            let same = WireError::refused(format!(
                "{address} is the same server as {other}, and each node of a quorum must be a server of its own"
            ));
            known.same = Some(same.clone());
            return Err(same);
        }
        let before = known.by_address.insert(address.clone(), boot.to_owned());
        drop(known);
        if before.is_some_and(|before| before != boot) {
            telemetry::node_restarted(&address);
        }
        Ok(if self.are_needed { boot } else { UNKNOWN }.to_owned())
    }
}

fn boot_of(info: &str) -> Option<&str> {
    let id = info.lines().find_map(|line| line.strip_prefix("run_id:"))?;
    let is_id = id.len() >= LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_id.then(|| &id[..LENGTH])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> Address {
        Address::Tcp {
            host: "localhost".to_owned(),
            port,
            tls: None,
        }
    }

    fn info(run_id: &str) -> Value {
        let text = format!("# Server\r\nredis_version:8.0.0\r\nrun_id:{run_id}\r\ntcp_port:1\r\n");
        Value::BulkString(text.into_bytes())
    }

    #[test]
    fn server_that_is_two_nodes_is_refused() {
        let boots = Boots::new(true);
        let (first, second) = ("0123456789abcdef0123", "fedcba9876543210fedc");
        assert_eq!(boots.check(&address(1), info(first)).unwrap(), first[..16]);
        let error = boots.check(&address(2), info(first)).unwrap_err();
        assert!(
            error.to_string().contains("is the same server as"),
            "{error}"
        );
        assert!(matches!(error, WireError::Refused(_)));
        boots.check(&address(2), info(second)).unwrap();
        boots
            .check(&address(1), info(first))
            .expect("it connects again");
        boots
            .check(&address(2), info("00112233445566778899"))
            .expect("it was restarted");
        assert!(boots.check_all().is_err());
    }

    #[test]
    fn server_without_a_run_id_is_refused_if_it_may_lose_data() {
        for answer in [Value::Nil, info(""), info("a b c d e f g h i")] {
            let error = Boots::new(true).check(&address(1), answer.clone());
            let error = error.unwrap_err();
            assert!(error.to_string().contains("+info"), "{error}");
            let safe = Boots::new(false);
            assert_eq!(safe.check(&address(1), answer.clone()).unwrap(), "-");
            assert_eq!(safe.check(&address(2), answer).unwrap(), "-");
        }
    }
}
