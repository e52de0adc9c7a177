-- Follows quorum_take.lua, grant.lua, choose.lua, queue.lua, quorum_node.lua and quorum_queue.lua: K is taken, a waiter
-- queues, or the node may have lost data. Also the poll of a waiter, and of an owner whose token must rise. Idempotent.
-- p is the token that the client proposes, see `proposed_token`.
-- Answers `held` if the caller has K, `early` if the node has no vote, otherwise `waits`.
local marker = read_marker(M, boot, delay)
if marker.err then
  return marker
end
local proposed, failure = proposed_token(ARGV[4], delay)
if not proposed then
  return failure
end

local votes = true
votes = marker.left == 0 -- control: restart_delay
if not votes then
  return early(marker)
end

local fence
local value = call('GET', K)
if value and owner_of(value) == owner then
  -- Reads F only if the token rises: otherwise a vote can be confirmed in any state of F and Q.
  local rises = proposed > tonumber(value:sub(24, 39))
  if rises then
    fence, failure = read_fence()
    if not fence then
      return failure
    end
  end
  raise_expiry(ttl)
  if rises then
    local digits = raise_fence(fence, proposed)
    call('SETRANGE', K, '23', digits)
    value = value:sub(1, 23) .. digits
  end
  return held(value)
end

-- Read even if K is held, so that a waiter that could never be granted the lock fails now.
fence, failure = read_fence()
if not fence then
  return failure
end
-- Includes the heartbeats. An empty queue is not read further.
local members = call('ZCARD', Q)
-- An entry keeps its stamp while it is alive. Otherwise a stamp that is far off is replaced by the current time.
local ticket = members > 0 and alive_for(owner) > 0 and call('ZSCORE', Q, entry)
local stamp = tonumber(ticket or ARGV[3])
if not ticket and (stamp < now - MAX_BEHIND_US or stamp > now + MAX_AHEAD_US) then
  stamp = now
end

-- The first write needs memory, here and below: a server without it refuses before anything is written.
local granted, removed, token
if not value then
  local head
  head, removed = choose(waiters_before(entry, stamp))
  granted = head or entry
  add_members(removed, granted)
  token = mint(fence, proposed)
  if granted == entry then
    return held(grant(entry, ttl, token, members - call('ZREM', Q, unpack(removed))))
  end
end

-- A positive ttl asks to queue.
local queues = ttl == ARGV[2]
local is_refused = queues and not ticket and is_full(members)
if queues and not is_refused then
  -- `join_queue` notifies K's owner of the first waiter. The owner must also learn of a new head: without a majority it
  -- yields this node to an earlier stamp.
  local is_new_head = not ticket and value and value:match(FLAGGED) and is_first(entry, stamp)
  ticket = join_queue(entry, stamp, members, value)
  if is_new_head then
    notify(owner_of(value))
  end
end
if granted then
  -- Only after the caller has queued, so that Q is never empty in between.
  local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
  value = grant(granted, CLAIM_MS, token, remaining)
end
if is_refused then
  return redis.error_reply('LOCKQUEUEFULL too many waiters')
end
return waits(entry, ticket, value)
