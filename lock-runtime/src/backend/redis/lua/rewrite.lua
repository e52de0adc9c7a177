-- KEYS K of each lock, ARGV owner, ttl in ms. Writes the expiry of each K, whether or not it changes, and never shortens
-- one. WAIT, which follows, covers what its own connection has written.
-- Answers flag+token, or nil if one of the locks is not the owner's.
local values = {}
for number, K in ipairs(KEYS) do
  local value = redis.call('GET', K)
  if not value or value:sub(1, 22) ~= ARGV[1] then
    return nil
  end
  values[number] = value
end
for _, K in ipairs(KEYS) do
  redis.call('PEXPIRE', K, math.max(redis.call('PTTL', K), ARGV[2]))
end
return values[1]:sub(23, 39)
