-- Comes after take.lua and grant.lua: somebody else holds K, or somebody queues.
-- Answers flag+token when K is held by the caller, else { remaining ms, position, the beginning of K's
-- value }; the position is 1 at the head and 0 outside the queue. It is also the poll of a waiter. Sent
-- twice, it does what it does once.
local CAP = 16384   -- waiters of one lock
local SHOWN = 512   -- bytes of K's value; a foreign one may have megabytes, which fill a connection's buffer

-- A value of ours whose flag is not set: owner, space, sixteen digits, label.
local UNFLAGGED = '^...................... %d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d '

-- Read even if K is taken: a waiter that could never be served should learn it now.
local fence, failure = read_fence()
if not fence then
  return failure
end
-- Twins included. While the queue is empty, nothing is asked of it.
local members = call('ZCARD', Q)
local ticket = members > 0 and call('ZSCORE', Q, entry)

local served, gone, token
if not value then
  local head
  head, gone = choose(queue(), me)
  served = head and owner_of(head) ~= me and head or entry
  add(gone, served)
  -- SET comes first: a server out of memory refuses it before anything is written.
  token = mint(fence)
  if served == entry then
    return give(entry, ttl, token, members - call('ZREM', Q, unpack(gone))):sub(23, 39)
  end
end

-- The ttl was given without a sign.
local queues = ttl == ARGV[2]
local full = queues and not ticket and members >= CAP and call('ZCOUNT', Q, '0', '+inf') >= CAP
if queues and not full then
  ticket = ticket or members > 0 and last_ticket() or now
  enqueue(entry, ticket)
  -- A foreign value is never written to.
  if value and value:match(UNFLAGGED) then
    call('SETRANGE', K, '22', '+')
    -- Or the holder would learn it from its release, and had to send another command.
    tell(owner_of(value))
  end
end
if served then
  -- After the caller has its place, so that this leaves no empty queue to a caller that queues.
  local left = call('ZCARD', Q) - call('ZREM', Q, unpack(gone))
  value = give(served, CLAIM_MS, token, left)
end
if full then
  return redis.error_reply('LOCKQUEUEFULL too many waiters')
end

local position = 0
if ticket then
  position = members > 0 and call('ZCOUNT', Q, '0', ticket) or 1
end
return { call('PTTL', K), position, value:sub(1, SHOWN) }
