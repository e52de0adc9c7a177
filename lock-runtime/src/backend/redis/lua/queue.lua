-- Part of acquire and share_acquire, after grant.lua: a caller that does not hold the lock.
local MAX_WAITERS = 16384
local MAX_SHOWN = 512 -- bytes of K's value; a foreign value may have megabytes

-- A value of this library whose flag is not set: owner, space, sixteen digits, label.
local UNFLAGGED = '^...................... %d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d '
-- A value of a lock that several owners share: see share.lua.
local SHARED = '^shared(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)[ +]'

-- Whether no further owner may queue. An empty queue is not read.
local function is_full(members)
  return members >= MAX_WAITERS and call('ZCOUNT', Q, '0', '+inf') >= MAX_WAITERS
end

-- Queues the caller, or keeps it in the queue. `value` is K's, or nil if K is free. Returns the caller's ticket.
local function join_queue(entry, ticket, members, value)
  ticket = ticket or members > 0 and next_ticket() or now
  enqueue(entry, ticket)
  -- A foreign value is never modified.
  if value and value:match(UNFLAGGED) then
    call('SETRANGE', K, '22', '+')
    if not value:match(SHARED) then
      -- Without this message the holder would learn of the waiter only from its release, and would have to send another
      -- command.
      notify(owner_of(value))
    end
  end
  return ticket
end

-- The answer to the caller: { remaining ms, position, the first bytes of K's value }. The position is 1 at the head and
-- 0 outside the queue. If K is shared and the caller names R, three numbers follow: the owners, their permits in total,
-- and how long K has been shared (ms).
local function waiting(ticket, members, value, R)
  local position = 0
  if ticket then
    position = members > 0 and call('ZCOUNT', Q, '0', ticket) or 1
  end
  local answer = { call('PTTL', K), position, value:sub(1, MAX_SHOWN) }
  local phase = R and value:match(SHARED)
  local sum = phase and redis.pcall('ZSCORE', R, '=')
  if type(sum) == 'string' then
    answer[4] = call('ZCOUNT', R, string.format('(%.0f', now), '+inf')
    answer[5] = -sum
    -- The token is the start time of the phase, unless the clock was set back.
    answer[6] = math.max(0, math.floor((now - phase) / 1000))
  end
  return answer
end
