-- Part of the scripts of a quorum's node, after grant.lua.
--
-- M, the marker of the node: `boot delay until`. A server that restarts has another boot, and one that lost all has no
-- M. In both cases it may have lost locks. Its votes do not count before `until` (µs), which is after the end of every
-- lease that it may have lost: no lease is longer than the delay (ms).
-- Q: the ticket is the stamp that the client chose, so that all nodes have one order.

-- The time until which votes of this node do not count. Nil, and the error to answer, if another client has another
-- delay. The marker is written if `writes`.
local function read_marker(M, boot, delay, writes)
  local text = redis.pcall('GET', M)
  if type(text) == 'table' then
    return nil, text
  end
  local known, of_delay, till = (text or ''):match('^(%S+) (%d+) (%d+)$')
  if known == boot then
    if of_delay ~= delay then
      return nil, redis.error_reply('LOCKDELAY the restart delay is ' .. of_delay .. ' ms here, and the client has '
        .. delay .. ' ms')
    end
    return tonumber(till)
  end
  local ms = tonumber(delay)
  till = ms == 0 and now or now + math.ceil(ms * 1010) + 2000
  if writes then
    call('SET', M, string.format('%s %s %.0f', boot, delay, till))
  end
  return till
end

-- How long (ms) votes do not count.
local function early(till)
  return math.max(0, math.ceil((till - now) / 1000))
end

-- The token that a client proposes: `=T` is the token of a node, anything else a guess, and 0 if that is too far ahead
-- of this node's clock. Nil, and the error to answer, if no token may be so large.
local function proposed_token(text, delay)
  local known, digits = text:match('^(=?)(%d+)$')
  local token = tonumber(digits)
  if not token or token >= 2 ^ 53 - 32 then
    return nil, redis.error_reply('LOCKFENCE the proposed token is not a number below 2^53 - 32')
  end
  local ms = tonumber(delay)
  local ahead = ms == 0 and 1000000 or math.min(1000000, ms * 250)
  if known == '' and token > now + ahead then
    return 0
  end
  return token
end

-- Stores a new token, which is not below `proposed`, and returns it.
local function mint(fence, proposed)
  return new_token(math.max(fence, proposed - TURNS))
end

-- Has F not below a token that K gets.
local function raise_fence(fence, token)
  if token > fence then
    call('SET', F, string.format('%016.0f', token), 'PXAT', math.floor(token / 1000) + FENCE_MS)
  end
end

-- Whether a waiter with this ticket goes before the caller.
local function is_before(ticket, waiter, stamp, caller)
  ticket = tonumber(ticket)
  return ticket < stamp or ticket == stamp and waiter < caller
end

-- A stamp that is a minute behind or a second ahead is that of a clock that is wrong.
local function plausible(stamp)
  return stamp >= now - 60000000 and stamp <= now + 1000000 and stamp or now
end

-- The answer to an owner that has K.
local function held(value, till)
  return { value:sub(23, 39), early(till), now }
end
