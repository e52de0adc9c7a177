//! What time it is at the servers, for the time of a grant.
//!
//! The command that takes a free lock is not answered with the time. So the client of a holder that asks for its token
//! later asks for the time, and counts back to the grant by its own clock. The command that mints then names the time of
//! the grant, and may arrive as late as it likes. With the age of the grant in that command instead, a server that was
//! frozen with it in its socket, and replaced meanwhile, would give a token above that of the next server's holder.
//!
//! The server reads its clock after the question was sent, and before the answer arrived. It counts as read when the
//! answer arrived, so that the time of a grant is never later than the grant. It is too early by as long as the answer
//! took, so a slow one is not used: the token must also be above those of earlier holders, of which a server that has
//! replaced another may know nothing.
//!
//! Answers become slow under load. So a reading is renewed long before it is too old, and no caller waits for that. A
//! renewal that fails, or is slow, is tried again a minute later.

use std::time::Duration;

use crate::background::moment::Moment;
use crate::background::sync::Mutex;

/// The longest time that an answer may take. More passes between the grants of two servers: one has to be missed, and
/// replaced.
const QUICK: Duration = Duration::from_millis(500);

/// How old a reading gets before the client asks again.
const FRESH: Duration = Duration::from_secs(60);

/// How long a reading is used. If a server's clock is set meanwhile, that is like a difference between two servers'
/// clocks.
const USABLE: Duration = Duration::from_secs(3 * 60);

/// Of two clocks that are being slewed, one runs faster by a thousandth at most. A reading is extrapolated as if the
/// client's were that one: in three minutes the time of a grant gets too early by 180 ms.
const DRIFT: i64 = 1_000;

/// The last reading, of whichever server: their clocks should agree.
#[derive(Debug, Default)]
pub(super) struct ServerClock(Mutex<Option<Known>>);

#[derive(Clone, Copy, Debug)]
struct Known {
    reading: Reading,
    /// When the client last asked for another one.
    asked: Moment,
}

impl ServerClock {
    /// Returns a reading that is still of use.
    pub(super) fn reading(&self, now: Moment) -> Option<Reading> {
        let known = (*self.0.lock())?;
        (now.since(known.reading.at) <= USABLE).then_some(known.reading)
    }

    /// Returns whether it is time to ask for another reading. The caller then asks, and others do not for a minute.
    pub(super) fn begin_renewal(&self, now: Moment) -> bool {
        match &mut *self.0.lock() {
            Some(known) if now.since(known.asked) > FRESH => {
                known.asked = now;
                true
            }
            _ => false,
        }
    }

    /// A server has told its `time` (µs since 1970). It was asked at `asked`, and its answer arrived at `now`. Returns how
    /// long that took as the error if it was too long.
    pub(super) fn hear(&self, time: i64, asked: Moment, now: Moment) -> Result<Reading, Duration> {
        let took = now.since(asked);
        if took > QUICK {
            return Err(took);
        }
        let reading = Reading { at: now, time };
        *self.0.lock() = Some(Known {
            reading,
            asked: now,
        });
        Ok(reading)
    }
}

/// A reading of a server's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    at: Moment,
    /// µs since 1970.
    time: i64,
}

impl Reading {
    /// Returns the time of a grant (µs since 1970) that was asked for at this moment.
    pub(super) fn time_of(self, granted_at: Moment) -> i64 {
        let micros = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        // One of the two is zero.
        let before = micros(self.at.since(granted_at));
        let after = micros(granted_at.since(self.at));
        let drift = before.saturating_add(after) / DRIFT;
        self.time
            .saturating_sub(before)
            .saturating_add(after)
            .saturating_sub(drift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: i64 = 1_800_000_000_000_000;

    fn ms(number: u64) -> Moment {
        Moment::from_nanos(number * 1_000_000)
    }

    #[test]
    fn time_of_a_grant_is_never_later_than_the_grant() {
        // The server has read its clock between 10.0 s and 10.3 s.
        let reading = ServerClock::default().hear(TIME, ms(10_000), ms(10_300));
        let reading = reading.unwrap();
        assert_eq!(reading.time_of(ms(4_000)), TIME - 6_306_300);
        assert_eq!(reading.time_of(ms(10_300)), TIME);
        assert_eq!(reading.time_of(ms(15_000)), TIME + 4_695_300);
    }

    #[test]
    fn slow_answer_is_not_used() {
        let clock = ServerClock::default();
        let slow = |clock: &ServerClock| clock.hear(TIME, ms(1_000), ms(1_501));
        assert_eq!(slow(&clock), Err(Duration::from_millis(501)));
        assert_eq!(clock.reading(ms(1_501)), None);
        let reading = clock.hear(TIME, ms(0), ms(500)).unwrap();
        assert!(slow(&clock).is_err());
        assert_eq!(clock.reading(ms(1_501)), Some(reading));
    }

    #[test]
    fn reading_is_used_for_three_minutes() {
        let clock = ServerClock::default();
        assert_eq!(clock.reading(ms(0)), None);
        let reading = clock.hear(TIME, ms(1_000), ms(1_000)).unwrap();
        assert_eq!(clock.reading(ms(181_000)), Some(reading));
        assert_eq!(clock.reading(ms(181_001)), None);
    }

    #[test]
    fn reading_is_renewed_once_a_minute() {
        let clock = ServerClock::default();
        assert!(
            !clock.begin_renewal(ms(100_000)),
            "there is nothing to renew"
        );
        clock.hear(TIME, ms(1_000), ms(1_000)).unwrap();
        let asked =
            [61_000, 61_001, 61_002, 121_001, 121_002].map(|now| clock.begin_renewal(ms(now)));
        assert_eq!(asked, [false, true, false, false, true]);
        clock.hear(TIME, ms(121_002), ms(121_003)).unwrap();
        assert!(!clock.begin_renewal(ms(181_003)));
    }
}
