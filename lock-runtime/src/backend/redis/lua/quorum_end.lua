-- Follows grant.lua, choose.lua and quorum_node.lua. KEYS K F Q M, ARGV owner+label, p, boot, delay in ms.
-- Afterwards the owner neither holds nor queues. p is proposed for the token of the next owner, so that all nodes give
-- it the same one. A successor is not named: it queues by its own stamp.
-- Answers, if K was the owner's: 1 freed, 2 handed off to the head of the queue. Otherwise: 3 left the queue, 0 K is
-- absent, -1 K is another owner's.
local entry = ARGV[1]
local owner = owner_of(entry)

local value = call('GET', K)
if not value or owner_of(value) ~= owner then
  local removed = call('ZREM', Q, entry, owner)
  return removed > 0 and 3 or value and -1 or 0
end

-- If the node has no vote, or if its fence or queue cannot be read, the lock cannot be granted, but K must not stay.
local marker, fence, first = read_marker(KEYS[4], ARGV[3], ARGV[4]), read_fence(), read_head()
if marker.left ~= 0 or not fence or first.err then
  call('DEL', K)
  return 1
end

local head, removed = choose_from(first, nil, owner)
add_members(removed, entry)
-- A server out of memory allows the first write. It then allows the rest of the script.
if not head then
  call('ZREM', Q, unpack(removed))
  call('DEL', K)
  return 1
end
add_members(removed, head)
local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
grant(head, CLAIM_MS, mint(fence, proposed_token(ARGV[2], ARGV[4]) or 0), remaining)
return 2
