-- KEYS K of each lock, ARGV owner, ttl in ms. Extends the leases, or none if one of them is gone.
-- Answers flag+token, or nil if one of the locks is not the owner's. The flag is '+' if waiters queue for one of them.
local values = {}
for number, K in ipairs(KEYS) do
  local value = redis.call('GET', K)
  if not value
    or value:sub(1, 22) ~= ARGV[1] -- control: owner_compare_on_keys
  then
    return nil
  end
  values[number] = value
end
local flag = ' '
for number, K in ipairs(KEYS) do
  if redis.call('PTTL', K) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', K, ARGV[2])
  end
  if values[number]:sub(23, 23) == '+' then
    flag = '+'
  end
end
return flag .. values[1]:sub(24, 39)
