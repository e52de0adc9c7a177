-- KEYS lock, ARGV `redisson`. Like trial.lua, for Redisson's record. No command of these scripts writes a field only if that changes
-- nothing, so this one writes a record and deletes it: at the end, when nothing else can be refused.
local K = KEYS[1]
if redis.call('TYPE', K).ok ~= 'none' then
  return 0
end
redis.call('TIME')
redis.call('GET', K)
redis.call('HEXISTS', K, '')
redis.call('HLEN', K)
redis.call('HKEYS', K)
redis.call('PTTL', K)
redis.call('PEXPIRE', K, '1')
redis.call('DEL', K)
redis.call('HSET', K, '', '')
redis.call('DEL', K)
return 1
