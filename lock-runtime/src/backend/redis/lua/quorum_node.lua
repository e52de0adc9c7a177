-- Part of the scripts of a quorum's node, after grant.lua.
--
-- M, the node's marker: `boot delay until`, without expiry. A server that was started again has another boot, and one
--   that lost its data has no M. It may have lost locks. So its votes do not count before `until` (µs), when every
--   lease that it may have lost is over: no lease is longer than the delay (ms).
-- Q: the ticket is the stamp that the client chose. So waiters have one order on all nodes: stamp, then entry.
-- F: as on one server. A grant's token is not below the one that the client proposes, so that nodes agree on it.

-- M as { till, is_new }, or an error: M's, or that clients have different delays. Writes nothing.
local function read_marker(M, boot, delay)
  local text = redis.pcall('GET', M)
  if type(text) == 'table' then
    return text
  end
  local known, of_node, till = (text or ''):match('^(%S+) (%d+) (%d+)$')
  -- Also of another boot: of clients that disagree, one with a shorter delay must not be the first after a restart.
  if of_node and of_node ~= delay then
    return redis.error_reply(
      'LOCKDELAY the restart delay is ' .. of_node .. ' ms on this node and ' .. delay .. ' ms in this client')
  end
  if known ~= boot then
    local ms = tonumber(delay)
    -- With a margin for this clock, which may be faster than the one by which a lease ends.
    return { till = ms == 0 and now or now + ms * 1010 + 2000, is_new = true }
  end
  return { till = tonumber(till), is_new = false }
end

-- Stores M, unless it is stored.
local function write_marker(M, boot, delay, marker)
  if marker.is_new then
    call('SET', M, string.format('%s %s %016.0f', boot, delay, marker.till))
  end
end

-- How long (ms) votes do not count yet.
local function early(marker)
  return math.max(0, math.ceil((marker.till - now) / 1000))
end

-- The token that a client proposes: `=T` was given by a node, and all else is a guess, 0 if it is far ahead of this
-- clock. Or nil and the error to answer.
local function proposed_token(text, delay)
  local known, digits = text:match('^(=?)(%d+)$')
  local token = digits and tonumber(digits)
  local ahead = delay == '0' and 1000000 or math.min(1000000, delay * 250)
  if token and known == '' and token > now + ahead then
    return 0
  end
  if not token or token >= 2 ^ 53 - 32 then
    return nil, redis.error_reply('LOCKFENCE the proposed token is not a number below 2^53 - 32')
  end
  return token
end

-- Stores a new token, which is not below `proposed`, and returns it.
local function mint(fence, proposed)
  return new_token(math.max(fence, proposed - TURNS))
end

-- Has F not below a token that K gets. Returns the token's digits. Written in any case, since hold begins with it: a
-- server out of memory refuses that.
local function raise_fence(fence, token)
  local last = math.max(fence, token)
  call('SET', F, string.format('%016.0f', last), 'PXAT', math.floor(last / 1000) + FENCE_MS)
  return string.format('%016.0f', token)
end

-- Raises the expiry of K, and never lowers it: of a lease that was renewed, a late command must not take that back.
-- Written in any case: a server out of memory allows it, and then allows the rest of the script.
local function raise_expiry(ttl)
  local left = call('PTTL', K)
  call('PEXPIRE', K, left < tonumber(ttl) and ttl or left)
end

-- The answer to an owner that has K: { flag+token, ms until the vote counts, time (µs) }.
local function held(value, marker)
  return { value:sub(23, 39), early(marker), now }
end
