-- KEYS lock, channel, latch; ARGV message, lease in ms, field, command that publishes, expiry of the latch in ms. As
-- Redisson since 3.24 unlocks. The latch answers an unlock that is sent again.
local K, lease, field = KEYS[1], ARGV[2], ARGV[3]
local latch = redis.call('GET', KEYS[3])
if latch then
  return tonumber(latch)
end
if redis.call('HEXISTS', K, field) == 0 then
  return nil
end
local is_free = redis.call('HINCRBY', K, field, -1) <= 0 and 1 or 0
if is_free == 1 then
  redis.call('DEL', K)
  redis.call(ARGV[4], KEYS[2], ARGV[1])
else
  redis.call('PEXPIRE', K, lease)
end
redis.call('SET', KEYS[3], is_free, 'PX', ARGV[5])
return is_free
