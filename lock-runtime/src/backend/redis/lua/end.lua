-- KEYS K F Q, ARGV owner+label [, successor+label, its ttl in ms]. The successor is an owner of the same process.
-- Afterwards the owner neither holds nor queues.
-- Answers, if K was the owner's: 1 freed, 2 handed off to the head of the queue (the successor queues), flag+token
-- the successor holds K. Otherwise: 3 left the queue, 0 K is absent, -1 K is another owner's.
local entry, successor, ttl = ARGV[1], ARGV[2], ARGV[3]
local owner, successor_owner = owner_of(entry), successor and owner_of(successor)

local value = call('GET', K)
if not value
  or owner_of(value) ~= owner -- control: owner_compare_on_end
then
  local removed = call('ZREM', Q, entry, owner)
  if successor and value and owner_of(value) == successor_owner then
    -- The command was sent twice, and the first one made the successor the holder.
    if call('PTTL', K) < tonumber(ttl) then
      call('PEXPIRE', K, ttl)
    end
    return value:sub(23, 39)
  end
  return removed > 0 and 3 or value and -1 or 0
end

-- If the fence or the queue cannot be read, the lock cannot be granted, but K must not stay.
local fence, first = read_fence(), read_head()
if not fence or first.err then
  call('DEL', K)
  return 1
end

local head, removed = choose_from(first, successor_owner, owner)
local to_successor = successor and (not head or owner_of(head) == successor_owner)
local granted = to_successor and successor or head
add_members(removed, entry)

-- A server out of memory allows the first write. It then allows the rest of the script.
if not granted then
  call('ZREM', Q, unpack(removed))
  call('DEL', K)
  return 1
end
if successor and not to_successor then
  call('PEXPIRE', Q, QUEUE_MS)
  -- Before members are removed, so that Q is not empty in between.
  enqueue(successor, call('ZSCORE', Q, successor) or next_ticket())
end
add_members(removed, granted)
local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
if to_successor then
  return grant(successor, ttl, new_token(fence), remaining):sub(23, 39)
end
grant(head, CLAIM_MS, new_token(fence), remaining)
return 2
