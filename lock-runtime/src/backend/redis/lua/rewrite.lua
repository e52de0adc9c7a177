-- KEYS K F of each lock, ARGV owner, ttl in ms. Writes the expiry of each K, whether or not it changes, and never
-- shortens one. WAIT follows, and covers only the writes of its own connection.
-- Answers flag+token, or nil if one of the locks is not the owner's: then it leaves the locks alone, and writes the expiry
-- of a fence as it is.
local values = {}
for number = 1, #KEYS, 2 do
  local value = redis.call('GET', KEYS[number])
  if not value or value:sub(1, 22) ~= ARGV[1] then
    local rest = redis.call('PTTL', KEYS[number + 1])
    if rest > 0 then
      redis.call('PEXPIRE', KEYS[number + 1], rest)
    end
    return nil
  end
  values[#values + 1] = value
end
for number = 1, #KEYS, 2 do
  redis.call('PEXPIRE', KEYS[number], math.max(redis.call('PTTL', KEYS[number]), ARGV[2]))
end
return values[1]:sub(23, 39)
