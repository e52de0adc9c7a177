-- KEYS K F Q M, ARGV owner+label, ttl in ms, token (16 digits), boot, delay in ms. Follows grant.lua and quorum_node.lua.
-- For a holder that a majority has just confirmed: writes K on a node that has lost it. Answers as acquire, or nil if
-- another owner has K.
local entry, ttl, token = ARGV[1], ARGV[2], ARGV[3]
local owner = owner_of(entry)

local fence, failure = read_fence()
local till
if fence then
  till, failure = read_marker(KEYS[4], ARGV[4], ARGV[5], true)
end
if not till then
  return failure
end
local value = call('GET', K)
if value and owner_of(value) ~= owner then
  return nil
end
if value then
  if call('PTTL', K) < tonumber(ttl) then
    call('PEXPIRE', K, ttl)
  end
  return held(value, till)
end
raise_fence(fence, tonumber(token))
local members = call('ZCARD', Q)
local removed = members > 0 and call('ZREM', Q, entry, owner) or 0
return held(grant(entry, ttl, token, members - removed), till)
