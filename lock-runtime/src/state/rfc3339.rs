//! Times as RFC 3339.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 86_400;

/// 9999-12-31T23:59:59, the last second that RFC 3339 can express.
const LAST: Duration = Duration::from_secs(253_402_300_799);

/// Displays a time as RFC 3339 in UTC, to the millisecond.
///
/// Another program may have written the time, so it is capped at the years 1970 and 9999.
///
/// # Examples
///
/// ```
/// use std::time::UNIX_EPOCH;
///
/// use lock_runtime::inspect::Rfc3339;
///
/// assert_eq!(Rfc3339(UNIX_EPOCH).to_string(), "1970-01-01T00:00:00.000Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rfc3339(pub SystemTime);

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.0.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = since.min(LAST);
        let (days, second) = (
            since.as_secs() / SECONDS_PER_DAY,
            since.as_secs() % SECONDS_PER_DAY,
        );
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        let millis = since.subsec_millis();
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
        )
    }
}

/// Returns the year, month and day that is so many days after 1970-01-01.
///
/// Counts in years that begin in March, so that a leap day is the last day of its year, and in eras of 400 years, which
/// all have the same number of days.
const fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_PER_ERA: u64 = 146_097;
    // From 0000-03-01 to 1970-01-01.
    let days = days + 719_468;
    let (era, day) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // March is 0. Five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 {
        (month + 3, year)
    } else {
        (month - 9, year + 1)
    };
    (era * 400 + year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(second: u64) -> String {
        Rfc3339(UNIX_EPOCH + Duration::from_secs(second)).to_string()
    }

    #[test]
    fn day_follows_day_through_leap_years_and_centuries() {
        let lengths = |year: u64| {
            let is_leap =
                year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
            let february = if is_leap { 29 } else { 28 };
            [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        };
        let mut days = 0..;
        for year in 1970..=9999 {
            for (month, length) in (1..).zip(lengths(year)) {
                for day in 1..=length {
                    assert_eq!(date(days.next().unwrap()), (year, month, day));
                }
            }
        }
    }

    #[test]
    fn time_is_shown_to_the_millisecond() {
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        let at = UNIX_EPOCH + Duration::from_millis(951_827_696_007);
        assert_eq!(Rfc3339(at).to_string(), "2000-02-29T12:34:56.007Z");
    }

    #[test]
    fn time_that_no_clock_shows_is_capped() {
        assert_eq!(text(1 << 40), "9999-12-31T23:59:59.000Z");
        let before = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(Rfc3339(before).to_string(), "1970-01-01T00:00:00.000Z");
    }
}
