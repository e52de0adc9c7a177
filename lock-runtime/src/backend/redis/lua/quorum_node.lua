-- Part of the scripts of a quorum's node, after grant.lua.
--
-- M, the node's marker, without expiry: `boot delay` of a node that votes, otherwise `boot delay count waited`. A
--   server that has restarted has another boot, and a server that lost its data has no M. It may have lost locks, so it
--   grants nothing until every lost lease must be over: none is longer than the delay (ms). Clients measure that time,
--   since no clock of the server is known to run evenly. At least `waited` (ms) has passed since the count began.
-- Q: the ticket is the stamp that the client chose. So waiters have one order on all nodes: stamp, then entry.
-- F: as on one server. A grant's token is at least the token that the client proposes, so that nodes agree on it.

-- Returns how long (ms) a node does not vote yet after it has waited this long. Includes a margin for a client's clock,
-- which may be faster than the clock that ends a lease.
local function left_of(delay, waited)
  return delay == '0' and 0 or math.max(0, delay + math.ceil(delay / 100) + 2 - waited)
end

-- Returns M as { votes, count, waited, left }, or an error: M's, or that clients have different delays.
local function read_marker(M, boot, delay)
  local text = redis.pcall('GET', M)
  if type(text) == 'table' then
    return text
  end
  local known, of_node, rest = (text or ''):match('^(%S+) (%d+)(.*)$')
  -- Compared after a restart, too: if clients disagree, a client with a shorter delay must not be the first then.
  if of_node and of_node ~= delay then
    return redis.error_reply(
      'LOCKDELAY the restart delay is ' .. of_node .. ' ms on this node and ' .. delay .. ' ms in this client')
  end
  if known == boot and rest == '' then
    return { votes = true, waited = 0, left = 0 }
  end
  local count, waited
  if known == boot then
    count, waited = rest:match('^ (%S+) (%d+)$')
  end
  waited = tonumber(waited or 0)
  return { votes = false, count = count, waited = waited, left = left_of(delay, waited) }
end

-- The answer of a node without a vote: { ms until it votes, time (µs) }.
local function early(marker)
  return { marker.left, now }
end

-- Returns the token that a client proposes, or nil and the error to answer with. `=T` came from a node. Anything else
-- is a guess, and counts as 0 if it is far ahead of this clock.
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

-- Raises F to a token that K gets. Returns the token's digits. Always writes, since `hold` begins with this: a server
-- out of memory refuses it.
local function raise_fence(fence, token)
  local last = math.max(fence, token)
  call('SET', F, string.format('%016.0f', last), 'PXAT', math.floor(last / 1000) + FENCE_MS)
  return string.format('%016.0f', token)
end

-- Raises the expiry of K, and never lowers it: a late command must not undo a renewal. Always writes: a server out of
-- memory allows this, and then the rest of the script.
local function raise_expiry(ttl)
  local left = call('PTTL', K)
  call('PEXPIRE', K, left < tonumber(ttl) and ttl or left)
end

-- The answer to an owner that has K: { flag+token, time (µs) }.
local function held(value)
  return { value:sub(23, 39), now }
end
