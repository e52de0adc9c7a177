-- KEYS K F Q, ARGV owner+label, proposed token, delay in ms. Follows grant.lua, choose.lua and quorum_node.lua.
-- Afterwards the owner neither holds nor queues. The next one gets the proposed token, as other nodes give it.
-- Answers, if K was the owner's: 1 freed, 2 handed off to the head of the queue. Otherwise: 3 left the queue, 0 K is
-- absent, -1 K is another owner's.
local entry = ARGV[1]
local owner = owner_of(entry)

local value = call('GET', K)
if not value or owner_of(value) ~= owner then
  local removed = call('ZREM', Q, entry, owner)
  return removed > 0 and 3 or value and -1 or 0
end

-- Without a fence or a queue the lock cannot be granted, but K must not stay.
local fence, waiters, proposed = read_fence(), read_queue(), proposed_token(ARGV[2], ARGV[3])
if not fence or waiters.err then
  call('DEL', K)
  return 1
end

local head, removed = choose(waiters, nil, owner)
add_members(removed, entry)
-- The first write is one that a server out of memory allows. It then allows the rest of the script.
if not head then
  call('ZREM', Q, unpack(removed))
  call('DEL', K)
  return 1
end
add_members(removed, head)
local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
grant(head, CLAIM_MS, mint(fence, proposed or 0), remaining)
return 2
