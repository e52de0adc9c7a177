//! The boots of the nodes: which run of a server is connected.

use std::collections::BTreeMap;

use redis::Value;

use crate::backend::redis::address::Address;
use crate::backend::wire::error::WireError;
use crate::background::sync::Mutex;
use crate::telemetry;

/// Stands for the boot of a server that does not tell it.
const UNKNOWN: &str = "-";

/// The bytes of a boot that are stored on the node.
const LENGTH: usize = 16;

/// The boots of the nodes of one quorum, by address.
#[derive(Debug, Default)]
pub(in crate::backend::redis) struct Boots(Mutex<BTreeMap<String, String>>);

impl Boots {
    /// The boot of the server at `address`, by its answer to `INFO server`. Two nodes with one boot are one server, and
    /// the second is refused.
    pub(in crate::backend::redis) fn check(
        &self,
        address: &Address,
        answer: Value,
    ) -> Result<String, WireError> {
        let info = answer.extract_error().ok();
        let info = info.and_then(|info| redis::from_redis_value::<String>(info).ok());
        let boot = info.as_deref().and_then(boot_of).unwrap_or(UNKNOWN);
        let address = address.to_string();
        let mut boots = self.0.lock();
        let is_same = |(other, known): &(&String, &String)| **other != address && *known == boot;
        if boot != UNKNOWN
            && let Some((other, _)) = boots.iter().find(is_same)
        {
            return Err(WireError::refused(format!(
                "{address} is the same server as {other}, and each node of a quorum must be a server of its own"
            )));
        }
        let before = boots.insert(address.clone(), boot.to_owned());
        drop(boots);
        match before {
            None if boot == UNKNOWN => telemetry::node_hides_its_run(&address),
            Some(before) if before != boot => telemetry::node_restarted(&address),
            _ => {}
        }
        Ok(boot.to_owned())
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
        let boots = Boots::default();
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
    }

    #[test]
    fn servers_that_do_not_tell_their_boot_are_not_told_apart() {
        let boots = Boots::default();
        for (port, answer) in [
            (1, Value::Nil),
            (2, info("")),
            (3, info("a b c d e f g h i")),
        ] {
            assert_eq!(boots.check(&address(port), answer).unwrap(), "-");
        }
    }
}
