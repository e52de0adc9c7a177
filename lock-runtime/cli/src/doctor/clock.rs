//! A server's clock, beside this machine's and beside the newest tokens.

use std::time::Duration;

use super::finding::Finding;

/// From when on clocks differ (µs): tokens are times, and people compare them.
const APART: i64 = 1_000_000;

/// How far a token may be ahead of the clock without a surprise (µs): clients of a quorum guess a little ahead, and sixteen
/// belong to one grant.
const AHEAD: i64 = 1_000_000;

/// The finding about a server's clock (µs since 1970), which was read while this machine's said `here`.
pub(crate) fn beside_ours(server: i64, here: i64) -> Finding {
    let off = server.saturating_sub(here);
    let shown = format!("{} beside this machine's", signed(off));
    match off.abs() <= APART {
        true => Finding::ok("clock", shown),
        false => Finding::warn("clock", shown).since(
            "leases do not depend on it, but tokens are times of this clock, and fences outlive a day of it",
            "run a time service such as chrony on both machines",
        ),
    }
}

/// The finding about a server's clock and the newest token that was found, both in µs since 1970.
pub(crate) fn beside_tokens(server: i64, newest: Option<i64>) -> Option<Finding> {
    let ahead = newest?.saturating_sub(server);
    Some(match ahead <= AHEAD {
        true => Finding::ok("tokens", "not ahead of the clock"),
        false => Finding::fail("tokens", format!("{} ahead of the clock", signed(ahead))).since(
            "the clock was set back, or a server with another one came before: tokens of keys whose fence is lost may fall",
            "set the clock right; until it has caught up, delete no fences",
        ),
    })
}

/// A time with its sign.
fn signed(micros: i64) -> String {
    let size = Duration::from_millis(micros.unsigned_abs() / 1_000);
    let sign = if micros < 0 { "-" } else { "+" };
    format!("{sign}{}", humantime::format_duration(size))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn clocks_that_differ_are_told() {
        assert_eq!(
            beside_ours(1_000_500_000, 1_000_000_000).verdict,
            Verdict::Ok
        );
        let off = beside_ours(0, 61_000_000);
        assert_eq!(off.verdict, Verdict::Warn);
        assert_eq!(off.value, "-1m 1s beside this machine's");
        assert_eq!(beside_tokens(1, None), None);
        let ahead = beside_tokens(0, Some(3_600_000_000)).unwrap();
        assert_eq!(
            (ahead.verdict, ahead.value.as_str()),
            (Verdict::Fail, "+1h ahead of the clock")
        );
        assert_eq!(beside_tokens(9, Some(20_000)).unwrap().verdict, Verdict::Ok);
    }
}
