//! Parses the redirections of a cluster's nodes.

/// The number of slots in a cluster.
const SLOTS: u16 = 16_384;

/// The answer of a node that does not have a lock. The node has carried out nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    pub(super) slot: u16,
    /// The host; empty or `?` if the cluster does not name it.
    pub(super) host: String,
    pub(super) port: u16,
    /// Whether the other node has the whole slot, or only the keys moved so far.
    pub(super) is_moved: bool,
}

impl Redirect {
    /// Parses `MOVED 7724 10.0.0.7:7000` and `ASK …`, split after the code. An IPv6 address has no brackets.
    pub(super) fn parse(code: &str, detail: &str) -> Option<Redirect> {
        let is_moved = match code {
            "MOVED" => true,
            "ASK" => false,
            _ => return None,
        };
        let mut words = detail.split_whitespace();
        let slot = words.next()?.parse().ok().filter(|&slot| slot < SLOTS)?;
        let (host, port) = words.next()?.rsplit_once(':')?;
        Some(Redirect {
            slot,
            host: host.to_owned(),
            port: port.parse().ok()?,
            is_moved,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(code: &str, detail: &str) -> Option<(u16, String, u16, bool)> {
        let redirect = Redirect::parse(code, detail)?;
        let Redirect {
            slot,
            host,
            port,
            is_moved,
        } = redirect;
        Some((slot, host, port, is_moved))
    }

    #[test]
    fn node_and_slot_are_read() {
        let node = |host: &str, port, is_moved| Some((7724, host.to_owned(), port, is_moved));
        assert_eq!(
            parse("MOVED", "7724 10.0.0.7:7000"),
            node("10.0.0.7", 7000, true)
        );
        assert_eq!(
            parse("ASK", "7724 node-b.local:7001"),
            node("node-b.local", 7001, false)
        );
        assert_eq!(parse("MOVED", "7724 ::1:7002"), node("::1", 7002, true));
        // This node does not know its own address.
        assert_eq!(parse("MOVED", "7724 :7003"), node("", 7003, true));
    }

    #[test]
    fn other_errors_name_no_node() {
        assert_eq!(parse("ERR", "7724 10.0.0.7:7000"), None);
        assert_eq!(parse("MOVED", "7724"), None);
        assert_eq!(parse("MOVED", "x 10.0.0.7:7000"), None);
        assert_eq!(parse("MOVED", "16384 10.0.0.7:7000"), None);
        assert_eq!(parse("MOVED", "7724 10.0.0.7:x"), None);
    }
}
