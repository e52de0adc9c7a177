-- KEYS lock, ARGV field, ttl in ms. Extends a lease in Redisson's record. Never shortens it, and never creates a lock
-- that is gone. Answers like `redisson_acquire`, or nil if the lock is not the owner's.
local K, field, ttl = KEYS[1], ARGV[1], ARGV[2]
if redis.call('TYPE', K).ok ~= 'hash'
  or redis.call('HEXISTS', K, field) == 0 -- control: redisson_owner_compare_on_renewal
then
  return nil
end
if redis.call('PTTL', K) < tonumber(ttl) then
  redis.call('PEXPIRE', K, ttl)
end
local time = redis.call('TIME')
return ' ' .. string.format('%010d%06d', time[1], time[2])
