-- KEYS K F Q, ARGV owner+label, ttl in ms (negative: do not queue).
-- Answers flag+token when K is held by the caller, else { remaining ms, position, K's value }; the
-- position is 1 at the head and 0 outside the queue. It is also the poll of a waiter, and the
-- confirmation of a grant. Sent twice, it does what it does once.
local CAP = 16384   -- waiters of one lock

local entry, ttl = ARGV[1], tonumber(ARGV[2])
local me, queues = owner_of(entry), ttl > 0
ttl = math.abs(ttl)

-- Touches K alone, and no memory: a grant can be confirmed whatever became of F, Q and the server.
local value = call('GET', K)
if held_by(value, me) then
  return confirm(value, ttl)
end

-- Read even if K is taken: a waiter that could never be served should learn it now.
local fence, failure = read_fence()
if not fence then
  return failure
end
-- Most locks have no queue, and are spared everything that concerns one.
local queue = call('ZCARD', Q) > 0
local ticket = queue and call('ZSCORE', Q, entry)

if not value then
  local head, gone
  if queue then
    head, gone = choose(me)
  end
  if not head or owner_of(head) == me then
    return give(entry, ttl, fence, gone):sub(23, 39)
  end
  value = give(head, CLAIM_MS, fence, gone)
end

if queues then
  if not ticket and call('ZCOUNT', Q, 0, '+inf') >= CAP then
    return redis.error_reply('LOCKQUEUEFULL too many waiters')
  end
  ticket = enqueue(entry)
  -- How a value of ours looks while its flag is not set. A foreign one is never written to.
  if value:match('^' .. ('.'):rep(22) .. ' ' .. ('%d'):rep(16) .. ' ') then
    call('SETRANGE', K, 22, '+')
  end
end

local position = ticket and call('ZCOUNT', Q, 0, ticket) or 0
return { call('PTTL', K), position, value }
