-- KEYS lock, ARGV field, ttl in ms. Takes a lock in the record of Redisson's RLock: a hash with one field, the owner.
-- Answers flag+token if the owner holds it; the token is the server's time in µs. Otherwise its remaining ms, its
-- type, and its value or a field of it.
local K, field, ttl = KEYS[1], ARGV[1], ARGV[2]
local kind = redis.call('TYPE', K).ok
if kind == 'none' then
  redis.call('HSET', K, field, '1')
  redis.call('PEXPIRE', K, ttl)
elseif kind == 'hash' and redis.call('HEXISTS', K, field) == 1 then
  -- The command was sent twice. Redisson's own script would count to 2 here, and one release would leave the lock held.
  if redis.call('PTTL', K) < tonumber(ttl) then
    redis.call('PEXPIRE', K, ttl)
  end
elseif kind == 'hash' then
  local holder = ''
  -- A lock with several holders has more fields, and a field that marks it.
  if redis.call('HLEN', K) <= 8 then
    for _, name in ipairs(redis.call('HKEYS', K)) do
      holder = name ~= 'mode' and name or holder
    end
  end
  return { redis.call('PTTL', K), kind, holder }
elseif kind == 'string' then
  return { redis.call('PTTL', K), kind, redis.call('GET', K) }
else
  return redis.error_reply('WRONGTYPE the key holds a ' .. kind)
end
local time = redis.call('TIME')
return ' ' .. string.format('%010d%06d', time[1], time[2])
