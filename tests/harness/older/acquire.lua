-- Follows take.lua and grant.lua: another owner holds K, or a waiter queues.
-- Also the poll of a waiter. Sent twice, it has the effect of one.
-- Answers flag+token if the caller holds K, else { remaining ms, position, the first bytes of K's value }. The
-- position is 1 at the head and 0 outside the queue.
local MAX_WAITERS = 16384
local MAX_SHOWN = 512 -- bytes of K's value; a foreign value may have megabytes

-- A value of this library whose flag is not set: owner, space, sixteen digits, label.
local UNFLAGGED = '^...................... %d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d '

-- Read even if K is held, so that a waiter that could never be granted the lock fails now.
local fence, failure = read_fence()
if not fence then
  return failure
end
-- Heartbeats included. An empty queue is not read any further.
local members = call('ZCARD', Q)
local ticket = members > 0 and call('ZSCORE', Q, entry)

local granted, removed, token
if not value then
  local head
  head, removed = choose(read_queue(), owner)
  granted = head and owner_of(head) ~= owner and head or entry
  add_members(removed, granted)
  -- SET comes first: a server out of memory refuses it before anything is written.
  token = new_token(fence)
  if granted == entry then
    return grant(entry, ttl, token, members - call('ZREM', Q, unpack(removed))):sub(23, 39)
  end
end

-- A ttl without a sign asks to queue.
local queues = ttl == ARGV[2]
local full = queues and not ticket and members >= MAX_WAITERS
  and call('ZCOUNT', Q, '0', '+inf') >= MAX_WAITERS
if queues and not full then
  ticket = ticket or members > 0 and next_ticket() or now
  enqueue(entry, ticket)
  -- A foreign value is never modified.
  if value and value:match(UNFLAGGED) then
    call('SETRANGE', K, '22', '+')
    -- Otherwise the holder would learn of the waiter by its release, and then send another command.
    notify(owner_of(value))
  end
end
if granted then
  -- After the caller has queued, so that Q is not empty in between.
  local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
  value = grant(granted, CLAIM_MS, token, remaining)
end
if full then
  return redis.error_reply('LOCKQUEUEFULL too many waiters')
end

local position = 0
if ticket then
  position = members > 0 and call('ZCOUNT', Q, '0', ticket) or 1
end
return { call('PTTL', K), position, value:sub(1, MAX_SHOWN) }
