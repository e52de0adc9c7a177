//! Parses the URLs of memory clients.

use crate::backend::redis::restart_delay_of;
use crate::config::{Limits, Topology};
use crate::error::LockError;

const FORM: &str = "a memory client's URL is memory://, memory://?like=cluster or memory://?like=quorum; \
                    the last one may go on &restart_delay=60s";

/// Parses the limits in the remainder of a `memory://` URL, which imitate a topology. Without any, there are none.
pub(super) fn limits(rest: &str) -> Result<Limits, LockError> {
    if rest.is_empty() {
        return Ok(Limits::None);
    }
    let form = || LockError::invalid_options(FORM);
    let parameters = rest.strip_prefix('?').ok_or_else(form)?;
    let (mut like, mut restart_delay) = (None, None);
    for parameter in parameters.split('&') {
        let is_twice = match parameter.split_once('=') {
            Some(("like", "cluster")) => like.replace(Topology::Cluster).is_some(),
            Some(("like", "quorum")) => like.replace(Topology::Quorum).is_some(),
            Some(("restart_delay", value)) => {
                restart_delay.replace(restart_delay_of(value)?).is_some()
            }
            _ => return Err(form()),
        };
        if is_twice {
            return Err(form());
        }
    }
    match (like, restart_delay) {
        (Some(topology), None) => Ok(Limits::from(topology)),
        (Some(Topology::Quorum), Some(restart_delay)) => Ok(Limits::Quorum { restart_delay }),
        _ => Err(form()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn url_names_the_topology_of_a_memory_client() {
        let quorum = |seconds| Limits::Quorum {
            restart_delay: Duration::from_secs(seconds),
        };
        for (rest, expected) in [
            ("", Limits::None),
            ("?like=cluster", Limits::OneSlot),
            ("?like=quorum", quorum(60)),
            ("?like=quorum&restart_delay=300s", quorum(300)),
            ("?restart_delay=0s&like=quorum", quorum(0)),
        ] {
            assert_eq!(limits(rest).unwrap(), expected, "{rest}");
        }
    }

    #[test]
    fn other_url_is_refused() {
        for rest in [
            "somewhere",
            "?",
            "?like=",
            "?like=sentinel",
            "?like=Quorum",
            "?like=quorum&like=quorum",
            "?like=cluster&restart_delay=60s",
            "?restart_delay=60s",
            "?like=quorum&wait_replicas=1",
            "?like=quorum#x",
        ] {
            let error = limits(rest).unwrap_err().to_string();
            assert!(error.contains("memory://?like=cluster"), "{rest}: {error}");
        }
        let error = limits("?like=quorum&restart_delay=1h").unwrap_err();
        assert!(
            error.to_string().contains("restart_delay in a URL"),
            "{error}"
        );
    }
}
