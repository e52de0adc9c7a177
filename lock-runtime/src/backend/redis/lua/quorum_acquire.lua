-- Follows quorum_take.lua, grant.lua, choose.lua, queue.lua and quorum_node.lua. Also the poll of a waiter, and of an
-- owner that has this node and others not yet. Sent twice, it has the effect of one.
-- Answers { flag+token, ms for which the vote does not count, time (µs) } if the caller holds K, else
-- { remaining ms, position, the first bytes of K's value, time }.
local stamp, delay = tonumber(ARGV[3]), ARGV[6]
local fence, failure = read_fence()
local proposed, till
if fence then
  proposed, failure = proposed_token(ARGV[4], delay)
end
if proposed then
  till, failure = read_marker(M, ARGV[5], delay, true)
end
if not till then
  return failure
end
stamp = plausible(stamp)

local value = call('GET', K)
if value and owner_of(value) == owner then
  local token = tonumber(value:sub(24, 39))
  if token < till and till <= now then
    -- A token of the time in which votes did not count may be below one that was lost.
    token = tonumber(mint(fence, proposed))
  elseif proposed > token then
    token = proposed
    raise_fence(fence, token)
  end
  value = owner .. value:sub(23, 23) .. string.format('%016.0f', token) .. value:sub(40)
  -- Raised, and never lowered: a late command must not shorten a renewed lease.
  call('SET', K, value, 'PX', math.max(call('PTTL', K), tonumber(ttl)))
  return held(value, till)
end

local members = call('ZCARD', Q)
local ticket = members > 0 and call('ZSCORE', Q, entry)
local own_stamp = tonumber(ticket or stamp)

local granted, removed, token
if not value then
  removed = {}
  for _, waiter in ipairs(read_queue()) do
    local id = owner_of(waiter)
    if id == owner or not is_before(call('ZSCORE', Q, waiter), waiter, own_stamp, entry) then
      break
    end
    local alive = alive_for(id)
    if alive <= 0 then
      add_members(removed, waiter)
    elseif accepts(id, alive) then
      granted = waiter
      break
    end
  end
  granted = granted or entry
  add_members(removed, granted)
  -- SET comes first: a server out of memory refuses it before anything is written.
  token = mint(fence, proposed)
  if granted == entry then
    local left = members - call('ZREM', Q, unpack(removed))
    return held(grant(entry, ttl, token, left), till)
  end
end

local queues = ttl == ARGV[2]
local is_refused = queues and not ticket and is_full(members)
if queues and not is_refused then
  local is_new = not ticket
  ticket = own_stamp
  enqueue(entry, ticket)
  if value and value:sub(23, 23) == ' ' and value:match(UNFLAGGED) then
    call('SETRANGE', K, '22', '+')
    notify(owner_of(value))
  elseif is_new and value and value:sub(23, 23) == '+' and call('ZRANGEBYSCORE', Q, '0', '+inf', 'LIMIT', '0', '1')[1] == entry then
    -- The holder may have this node alone, and then gives it to a caller with a better stamp.
    notify(owner_of(value))
  end
end
if granted then
  -- After the caller has queued, so that Q is not empty in between.
  local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
  value = grant(granted, CLAIM_MS, token, remaining)
end
if is_refused then
  return redis.error_reply('LOCKQUEUEFULL too many waiters')
end
local answer = waiting(ticket, 1, value)
answer[4] = now
return answer
