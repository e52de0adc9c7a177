//! Compares a server's clock with this machine's and with the newest tokens.

use std::time::Duration;

use super::finding::Finding;

/// The difference of clocks (µs) that is reported: tokens are times, and people compare them.
const APART: i64 = 1_000_000;

/// How far a token may normally be ahead of the clock (µs): clients of a quorum guess a little ahead, and a grant has sixteen
/// tokens.
const AHEAD: i64 = 1_000_000;

/// The finding about a server's clock (µs since 1970), which was read when this machine's clock was `here`.
pub(crate) fn beside_ours(server: i64, here: i64) -> Finding {
    let off = server.saturating_sub(here);
    let shown = format!("{} compared with this machine's", signed(off));
    if off.abs() <= APART {
        Finding::ok("clock", shown)
    } else {
        Finding::warn("clock", shown).since(
            "tokens are times of this clock, fences expire by it, and a step of it forward ends leases early",
            "run a time service such as chrony on both machines",
        )
    }
}

/// The newest token found on a server, and the server's clock afterwards (µs since 1970).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Newest {
    pub(crate) server: String,
    pub(crate) clock: i64,
    pub(crate) token: i64,
}

impl Newest {
    fn ahead(&self) -> i64 {
        self.token.saturating_sub(self.clock)
    }
}

/// The finding about the server whose token is farthest ahead of its clock; none without tokens.
pub(crate) fn beside_tokens(found: &[Newest]) -> Option<Finding> {
    let newest = found.iter().max_by_key(|newest| newest.ahead())?;
    let ahead = newest.ahead();
    if ahead <= AHEAD {
        return Some(Finding::ok("tokens", "not ahead of the clock"));
    }
    let finding = Finding::fail("tokens", format!("{} ahead of the clock", signed(ahead))).since(
        "the clock was set back, or replaced by another server's: tokens may fall for keys whose fence is lost",
        "correct the clock; until it has caught up, delete no fences",
    );
    Some(finding.on(&newest.server))
}

/// A time with its sign, cut to milliseconds. Zero is positive.
fn signed(micros: i64) -> String {
    let millis = micros / 1_000;
    let size = Duration::from_millis(millis.unsigned_abs());
    let sign = if millis < 0 { "-" } else { "+" };
    format!("{sign}{}", humantime::format_duration(size))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn difference_of_clocks_is_reported() {
        assert_eq!(
            beside_ours(1_000_500_000, 1_000_000_000).verdict,
            Verdict::Ok
        );
        let off = beside_ours(0, 61_000_000);
        assert_eq!(off.verdict, Verdict::Warn);
        assert_eq!(off.value, "-1m 1s compared with this machine's");
    }

    #[test]
    fn difference_that_rounds_to_zero_has_no_minus() {
        for (server, shown) in [(0, "-1ms"), (1, "+0s"), (1_000, "+0s"), (2_000, "+1ms")] {
            let found = beside_ours(server, 1_000);
            assert_eq!(found.value, format!("{shown} compared with this machine's"));
        }
    }

    #[test]
    fn token_that_is_farthest_ahead_is_reported() {
        let newest = |server: &str, clock, token| Newest {
            server: server.to_owned(),
            clock,
            token,
        };
        assert_eq!(beside_tokens(&[]), None);
        let fine = newest("a", 9, 20_000);
        let found = beside_tokens(std::slice::from_ref(&fine)).unwrap();
        assert_eq!(found.verdict, Verdict::Ok);
        let hour = newest("b", 5, 3_600_000_005);
        let minute = newest("c", 9_000_000_000, 9_060_000_000);
        let found = beside_tokens(&[fine, hour, minute]).unwrap();
        assert_eq!(
            (found.verdict, &*found.value, &*found.server),
            (Verdict::Fail, "+1h ahead of the clock", "b")
        );
    }
}
