-- Comes after take.lua and grant.lua: somebody else holds K, or somebody queues.
-- Answers flag+token when K is held by the caller, else { remaining ms, position, K's value }; the
-- position is 1 at the head and 0 outside the queue. It is also the poll of a waiter. Sent twice, it
-- does what it does once.
local CAP = 16384   -- waiters of one lock

-- A value of ours whose flag is not set: owner, space, sixteen digits, label.
local UNFLAGGED = '^...................... %d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d '

-- Read even if K is taken: a waiter that could never be served should learn it now.
local fence, failure = read_fence()
if not fence then
  return failure
end
-- Twins included. While there is nobody, what concerns the others is not asked.
local members = call('ZCARD', Q)
local ticket = members > 0 and call('ZSCORE', Q, entry)

if not value then
  local head, gone = choose(queue(), me)
  local served = head and owner_of(head) ~= me and head or entry
  add(gone, served)
  -- SET comes first: a server out of memory refuses it before anything is written.
  local token = mint(fence)
  call('ZREM', Q, unpack(gone))
  if served == entry then
    return give(entry, ttl, token):sub(23, 39)
  end
  value = give(served, CLAIM_MS, token)
end

-- The ttl was given without a sign.
if ttl == ARGV[2] then
  if not ticket then
    if members >= CAP and call('ZCOUNT', Q, '0', '+inf') >= CAP then
      return redis.error_reply('LOCKQUEUEFULL too many waiters')
    end
    ticket = members > 0 and last_ticket() or now
  end
  enqueue(entry, ticket)
  -- A foreign value is never written to.
  if value:match(UNFLAGGED) then
    call('SETRANGE', K, '22', '+')
    -- Or the holder would learn it from its release, and had to send another command.
    tell(owner_of(value))
  end
end

local position = 0
if ticket then
  position = members > 0 and call('ZCOUNT', Q, '0', ticket) or 1
end
return { call('PTTL', K), position, value }
