-- KEYS K, ARGV owner, ttl in ms. Extends the lease. Never shortens it, and never creates a lock that is gone.
-- Answers flag+token, or nil if K is not the owner's.
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
