-- Follows grant.lua, choose.lua, queue.lua, quorum_node.lua and quorum_queue.lua. KEYS K F Q M, ARGV owner+label, token
-- (16 digits), stamp (µs), boot, delay in ms.
-- Gives K, if it has exactly that token, to a live waiter with an earlier stamp, and queues the caller. A late copy
-- finds another token. Without such a waiter it writes nothing, not even an expiry: the vote stays as old as it was.
-- Answers like acquire. The value is empty, and 0 ms remain, if K is absent.
local entry, stamp = ARGV[1], tonumber(ARGV[3])
local owner = owner_of(entry)

local marker = read_marker(KEYS[4], ARGV[4], ARGV[5])
if marker.err then
  return marker
elseif marker.left > 0 then
  return early(marker)
end
local value = call('GET', K)
if value and owner_of(value) == owner then
  local is_named = true
  is_named = value:sub(24, 39) == ARGV[2] -- control: token_of_a_yield
  if not is_named then
    return held(value)
  end
  local fence, failure = read_fence()
  if not fence then
    return failure
  end
  -- A stamp of long ago is kept: the caller may have waited that long.
  if stamp > now + MAX_AHEAD_US then
    stamp = now
  end
  local head, removed = choose(waiters_before(entry, stamp))
  if not head then
    return held(value)
  end
  -- SET comes first: a server out of memory refuses it before anything is written.
  local token = new_token(fence)
  -- Before members are removed, so that Q is not empty in between.
  enqueue(entry, stamp)
  add_members(removed, head)
  local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
  return waits(entry, true, grant(head, CLAIM_MS, token, remaining))
end

local answer = waits(entry, alive_for(owner) > 0 and call('ZSCORE', Q, entry), value or '')
if not value then
  answer[1] = 0
end
return answer
