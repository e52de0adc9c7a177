-- KEYS lock, channel; ARGV message, lease in ms, field. As Redisson 3.5 unlocks: 1 free, 0 held by an outer call, nil
-- another owner's.
local K, lease, field = KEYS[1], ARGV[2], ARGV[3]
if redis.call('EXISTS', K) == 0 then
  redis.call('PUBLISH', KEYS[2], ARGV[1])
  return 1
end
if redis.call('HEXISTS', K, field) == 0 then
  return nil
end
if redis.call('HINCRBY', K, field, -1) > 0 then
  redis.call('PEXPIRE', K, lease)
  return 0
end
redis.call('DEL', K)
redis.call('PUBLISH', KEYS[2], ARGV[1])
return 1
