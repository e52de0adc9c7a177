-- Follows grant.lua, choose.lua and quorum_node.lua. KEYS K F Q M, ARGV the first bytes of K's value, its length (-1:
-- any, those bytes are an owner), the token for the next owner, boot, delay in ms, and a notice for the holder.
-- Takes K from its holder on this node, as `end` does. A majority had this owner a moment ago.
-- Answers 1 freed, 2 granted to the head of the queue. Otherwise nothing is written: 0 K is absent, -1 another owner has K.
local record, length, notice = ARGV[1], tonumber(ARGV[2]), ARGV[6]
local value = call('GET', K)
if not value then
  return 0
end
local is_seen = value:sub(1, #record) == record and (length < 0 or #value == length)
if not is_seen then
  return -1
end

local fence, failure = read_fence()
if not fence then
  return failure
end
local proposed
proposed, failure = proposed_token('=' .. ARGV[3], ARGV[5])
if not proposed then
  return failure
end
local owner = owner_of(value)
-- A node without a vote grants nothing.
local marker = read_marker(KEYS[4], ARGV[4], ARGV[5])
local waiters = marker.left == 0 and call('ZRANGEBYSCORE', Q, '0', '+inf', 'LIMIT', '0', MAX_CHECKED) or {}
local head, removed = choose(waiters, nil, owner)

-- A server out of memory allows the first write. It then allows the rest of the script.
call('PEXPIRE', K, CLAIM_MS)
if head then
  add_members(removed, head)
  local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
  grant(head, CLAIM_MS, mint(fence, proposed), remaining)
else
  if #removed > 0 then
    call('ZREM', Q, unpack(removed))
  end
  -- Below the next token, which is above the holder's, even if F was lost.
  raise_fence(fence, proposed - TURNS)
  call('DEL', K)
end
redis.pcall('PUBLISH', 'lock:' .. owner:sub(1, 8), '!' .. owner .. notice .. K)
return head and 2 or 1
