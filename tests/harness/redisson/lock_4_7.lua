-- KEYS lock, ARGV lease in ms, field. As Redisson 4.7 locks: nil, or the remaining ms of another owner.
local K, lease, field = KEYS[1], ARGV[1], ARGV[2]
if redis.call('EXISTS', K) == 0 or redis.call('HEXISTS', K, field) == 1 then
  redis.call('HINCRBY', K, field, 1)
  redis.call('PEXPIRE', K, lease)
  return nil
end
return redis.call('PTTL', K)
