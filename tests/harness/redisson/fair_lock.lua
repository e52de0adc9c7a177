-- KEYS lock, queue, timeouts; ARGV lease in ms, field, time in the queue in ms, the client's clock in ms. As Redisson's
-- fair lock locks: nil, or the ms until the next attempt.
local K, Q, T = KEYS[1], KEYS[2], KEYS[3]
local lease, field, wait, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
while true do
  local first = redis.call('LINDEX', Q, 0)
  if not first or tonumber(redis.call('ZSCORE', T, first)) > now then
    break
  end
  redis.call('ZREM', T, first)
  redis.call('LPOP', Q)
end
local first = redis.call('LINDEX', Q, 0)
if redis.call('EXISTS', K) == 0 and (not first or first == field) then
  redis.call('LPOP', Q)
  redis.call('ZREM', T, field)
  redis.call('HSET', K, field, 1)
  redis.call('PEXPIRE', K, lease)
  return nil
end
if redis.call('HEXISTS', K, field) == 1 then
  redis.call('HINCRBY', K, field, 1)
  redis.call('PEXPIRE', K, lease)
  return nil
end
local timeout = redis.call('ZSCORE', T, field)
if timeout then
  return timeout - wait - now
end
local last = redis.call('LINDEX', Q, -1)
local ttl = last and redis.call('ZSCORE', T, last) - now or redis.call('PTTL', K)
redis.call('ZADD', T, ttl + wait + now, field)
redis.call('RPUSH', Q, field)
return ttl
