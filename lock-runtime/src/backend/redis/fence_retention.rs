//! How long the fence of a lock outlives its last token.
//!
//! The scripts contain one day as a constant. A client with another retention has scripts with another constant, and
//! therefore other digests. Passing the retention as an argument would cost every call of every client.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::background::sync::Mutex;

/// How long the fence of a lock is kept, in whole ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FenceRetention {
    ms: u128,
}

/// How far the token of a quorum's node may be ahead of its clock, in ms. `quorum_take.lua` adds it.
const AHEAD: u128 = 1000;

impl FenceRetention {
    pub(super) const DAY: FenceRetention = FenceRetention { ms: 86_400_000 };

    pub(super) fn of(memory: Duration) -> FenceRetention {
        FenceRetention {
            ms: memory.as_millis(),
        }
    }

    /// Returns the source of a script with this retention, from its source with one day. No other number in a script
    /// equals the number of ms in a day.
    pub(super) fn source(self, of_a_day: &str) -> String {
        let mut source = String::with_capacity(of_a_day.len());
        let mut rest = of_a_day;
        while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
            let (text, number) = rest.split_at(start);
            let end = number.find(|letter: char| !letter.is_ascii_digit());
            let (number, after) = number.split_at(end.unwrap_or(number.len()));
            source.push_str(text);
            match number.parse::<u128>() {
                Ok(ms) if ms == FenceRetention::DAY.ms => source += &self.ms.to_string(),
                Ok(ms) if ms == FenceRetention::DAY.ms + AHEAD => {
                    source += &(self.ms + AHEAD).to_string();
                }
                _ => source.push_str(number),
            }
            rest = after;
        }
        source + rest
    }
}

/// One `T` for each retention of the clients in this process. There are few, so they are never dropped.
pub(super) struct PerMemory<T: 'static>(Mutex<BTreeMap<FenceRetention, &'static T>>);

impl<T> PerMemory<T> {
    pub(super) const fn new() -> PerMemory<T> {
        PerMemory(Mutex::new(BTreeMap::new()))
    }

    pub(super) fn get(
        &self,
        memory: FenceRetention,
        make: impl FnOnce(FenceRetention) -> T,
    ) -> &'static T {
        let mut all = self.0.lock();
        all.entry(memory)
            .or_insert_with(|| Box::leak(Box::new(make(memory))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_has_the_memory_in_place_of_a_day() {
        let of_a_day = "local FENCE_MS = 86400000   -- F\n\
                        call('SET', F, token, 'PX', '86400000')\n\
                        call('SET', F, token, 'PX', '86401000')\n\
                        local MAX_BEHIND_US = 86400000000\n";
        // With the second that a quorum's script adds, 86 399 s is a day.
        for seconds in [3600, 86_399, 86_401] {
            let source = FenceRetention::of(Duration::from_secs(seconds)).source(of_a_day);
            let expected = format!(
                "local FENCE_MS = {seconds}000   -- F\n\
                 call('SET', F, token, 'PX', '{seconds}000')\n\
                 call('SET', F, token, 'PX', '{}000')\n\
                 local MAX_BEHIND_US = 86400000000\n",
                seconds + 1
            );
            assert_eq!(source, expected);
        }
        assert_eq!(FenceRetention::DAY.source(of_a_day), of_a_day);
    }

    #[test]
    fn one_value_is_made_for_each_retention() {
        static ALL: PerMemory<u128> = PerMemory::new();
        let get = |seconds| {
            let memory = FenceRetention::of(Duration::from_secs(seconds));
            ALL.get(memory, |memory| memory.ms)
        };
        assert!(std::ptr::eq(get(3600), get(3600)));
        assert_eq!((*get(3600), *get(7200)), (3_600_000, 7_200_000));
    }
}
