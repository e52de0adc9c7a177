-- Follows take.lua, grant.lua, choose.lua and queue.lua: another owner holds K, or a waiter queues.
-- Also the poll of a waiter. Idempotent. A writer names R as KEYS[4].
-- Answers flag+token if the caller holds K, otherwise like `waiting`.

-- Read even if K is held, so that a waiter that could never be granted the lock fails now.
local fence, failure = read_fence()
if not fence then
  return failure
end
-- Includes the heartbeats. An empty queue is not read further.
local members = call('ZCARD', Q)
local ticket = members > 0 and call('ZSCORE', Q, entry)

local granted, removed, token
if not value then
  local head
  head, removed = choose_from(read_head(), owner)
  granted = head and owner_of(head) ~= owner and head or entry
  add_members(removed, granted)
  -- SET comes first: a server out of memory refuses it before anything is written.
  token = new_token(fence)
  if granted == entry then
    return grant(entry, ttl, token, members - call('ZREM', Q, unpack(removed))):sub(23, 39)
  end
end

-- A positive ttl asks to queue.
local queues = ttl == ARGV[2]
local is_refused = queues and not ticket and is_full(members)
if queues and not is_refused then
  ticket = join_queue(entry, ticket, members, value)
end
if granted then
  -- Only after the caller has queued, so that Q is never empty in between.
  local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
  value = grant(granted, CLAIM_MS, token, remaining)
end
if is_refused then
  return redis.error_reply('LOCKQUEUEFULL too many waiters')
end
return waiting(ticket, members, value, KEYS[4])
