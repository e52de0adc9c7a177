-- KEYS lock, queue, channel; ARGV message, field. As Redisson's fair lock unlocks an outermost call: 1, or nil if the lock
-- is another owner's.
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
redis.call('DEL', KEYS[1])
local first = redis.call('LINDEX', KEYS[2], 0)
if first then
  redis.call('PUBLISH', KEYS[3] .. ':' .. first, ARGV[1])
end
return 1
