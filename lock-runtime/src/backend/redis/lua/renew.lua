-- KEYS K, ARGV owner, ttl in ms. Answers flag+token, or nil when K is not the owner's.
-- Lengthens the lease, never shortens it, and never makes a lock that is gone.
local value = redis.call('GET', KEYS[1])
if not value
  or value:sub(1, 22) ~= ARGV[1] -- control: owner_compare_on_renewal
then
  return nil
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return value:sub(23, 39)
