-- KEYS lock, ARGV lease in ms, field. As Redisson's watchdog renews: 1, or 0 if the lock is not the owner's.
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
