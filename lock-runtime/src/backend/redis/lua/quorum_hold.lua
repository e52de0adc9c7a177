-- Follows grant.lua and quorum_node.lua. KEYS K F Q M, ARGV owner+label, ttl in ms, token (16 digits), boot, delay in
-- ms.
-- The renewal of a holder that a majority has just confirmed: it also writes K on a node that has lost it, with the
-- holder's token. It does so on a node without a vote, too: no other owner can have the lock.
-- Answers like acquire, or nil if another owner has K.
local entry, ttl, boot, delay = ARGV[1], ARGV[2], ARGV[4], ARGV[5]
local owner = owner_of(entry)

local marker = read_marker(KEYS[4], boot, delay)
if marker.err then
  return marker
end
local value = call('GET', K)
local is_own = value and owner_of(value) == owner
local may_hold = true
may_hold = is_own or not value -- control: hold_for_absent_keys
if not may_hold then
  return nil
end
-- Reads neither F nor Q: a lease can be renewed in any state of these and of the server.
if is_own then
  raise_expiry(ttl)
  return held(value)
end

local fence, failure = read_fence()
if not fence then
  return failure
end
local members = call('ZCARD', Q)
-- First, so that a server out of memory refuses it before anything is written.
local token = raise_fence(fence, tonumber(ARGV[3]))
local removed = members > 0 and call('ZREM', Q, entry, owner) or 0
return held(grant(entry, ttl, token, members - removed))
