//! The time when a key expires.

use crate::raw::RawLock;

/// PEXPIRETIME exists since Redis 7.0. On an older server the script reads the remaining time
/// between two reads of its clock in the same millisecond.
const EXPIRES_AT: &str = "
local at = redis.pcall('PEXPIRETIME', KEYS[1])
if type(at) == 'number' then
  return at
end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local before, left
repeat
  before = now()
  left = redis.call('PTTL', KEYS[1])
until before == now()
return left < 0 and left or before + left";

impl RawLock {
    /// The exact time at which the key expires (ms since 1970). Negative if it does not.
    #[track_caller]
    pub fn expires_at(&mut self, key: &str) -> i64 {
        self.command(&["EVAL", EXPIRES_AT, "1", key])
    }
}
