-- KEYS K F Q, ARGV owner+label [, next owner+label of the same process, its ttl in ms].
-- Afterwards the owner neither holds nor queues. Answers 1 freed, 2 handed on (`next` queues),
-- flag+token K is held by `next`; and when K was not the owner's: 3 left the queue, 0 K is absent,
-- -1 K is another's.
local entry, heir, ttl = ARGV[1], ARGV[2], ARGV[3]
local owner, heir_owner = owner_of(entry), heir and owner_of(heir)

local value = call('GET', K)
if not value
  or owner_of(value) ~= owner -- control: owner_compare_on_end
then
  local left = call('ZREM', Q, entry, owner)
  if heir and value and owner_of(value) == heir_owner then
    -- Sent twice: the first one made `next` the holder.
    if call('PTTL', K) < tonumber(ttl) then
      call('PEXPIRE', K, ttl)
    end
    return value:sub(23, 39)
  end
  return left > 0 and 3 or value and -1 or 0
end

-- Without a fence or a queue nobody can be served, but K must not stay.
local fence, waiters = read_fence(), queue()
if not fence or waiters.err then
  call('DEL', K)
  return 1
end

local head, gone = choose(waiters, heir_owner, owner)
local passed = heir and (not head or owner_of(head) == heir_owner)
local served = passed and heir or head
add(gone, entry)

-- The first write is one that a server out of memory allows; it then allows the others, too.
if not served then
  call('ZREM', Q, unpack(gone))
  call('DEL', K)
  return 1
end
if heir and not passed then
  call('PEXPIRE', Q, QUEUE_MS)
  -- Before the others leave: the queue is never empty in between.
  enqueue(heir, call('ZSCORE', Q, heir) or last_ticket())
end
add(gone, served)
local left = call('ZCARD', Q) - call('ZREM', Q, unpack(gone))
if passed then
  return give(heir, ttl, mint(fence), left):sub(23, 39)
end
give(head, CLAIM_MS, mint(fence), left)
return 2
