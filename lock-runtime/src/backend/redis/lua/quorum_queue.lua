-- Part of a node's acquire and yield, after grant.lua, choose.lua, queue.lua and quorum_node.lua: the order of waiters.

-- A value of this library whose flag is set: owner, plus, sixteen digits, label.
local FLAGGED = '^......................%+%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d '
local MAX_AHEAD_US = 1000000    -- a stamp that is further off comes from a wrong clock
local MAX_BEHIND_US = 86400000000 -- a day: a waiter may have waited for long

-- Whether a waiter with this ticket is before `entry` with this stamp. Entries of one ticket are compared as in Q, byte
-- by byte: `<` would follow the server's locale.
local function is_before(waiter, ticket, entry, stamp)
  if tonumber(ticket) ~= stamp then
    return tonumber(ticket) < stamp
  end
  local place = 1
  while waiter:byte(place) and waiter:byte(place) == entry:byte(place) do
    place = place + 1
  end
  return (waiter:byte(place) or 0) < (entry:byte(place) or 0)
end

-- Returns the entries of other owners before this one, the head first.
local function waiters_before(entry, stamp)
  local members = call('ZRANGEBYSCORE', Q, '0', stamp, 'WITHSCORES', 'LIMIT', '0', MAX_CHECKED)
  local waiters = {}
  for place = 1, #members, 2 do
    local waiter = members[place]
    if owner_of(waiter) ~= owner_of(entry) and is_before(waiter, members[place + 1], entry, stamp) then
      waiters[#waiters + 1] = waiter
    end
  end
  return waiters
end

-- Returns whether no live waiter is before an owner that does not queue yet. The first waiter is usually alive, and
-- decides.
local function is_first(entry, stamp)
  for skipped = 0, MAX_CHECKED - 1 do
    local waiter, ticket = unpack(call('ZRANGEBYSCORE', Q, '0', stamp, 'WITHSCORES', 'LIMIT', skipped, '1'))
    if not waiter or not is_before(waiter, ticket, entry, stamp) then
      return true
    elseif alive_for(owner_of(waiter)) > 0 then
      return false
    end
  end
  return false
end

-- The answer to an owner without K: { remaining ms, position, the first bytes of K's value, time (µs) }. The position
-- is 1 at the head and 0 outside the queue.
local function waits(entry, is_queued, value)
  local answer = waiting(nil, 0, value)
  if is_queued then
    -- Not by the ticket, since another waiter may have the same one. The first members are the heartbeats.
    answer[2] = call('ZRANK', Q, entry) - call('ZCOUNT', Q, '-inf', '(0') + 1
  end
  answer[4] = now
  return answer
end
