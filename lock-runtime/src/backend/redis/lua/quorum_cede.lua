-- KEYS K F Q M, ARGV owner+label, token of K, stamp (µs), boot, delay in ms. Follows grant.lua, choose.lua, queue.lua
-- and quorum_node.lua.
-- Gives K to a waiter with a better stamp, and queues the caller. Does nothing if K has another token, or there is no
-- such waiter. A late copy finds another token. Answers as acquire does.
local entry, named, stamp = ARGV[1], ARGV[2], plausible(tonumber(ARGV[3]))
local owner = owner_of(entry)

local fence, failure = read_fence()
local till
if fence then
  till, failure = read_marker(KEYS[4], ARGV[4], ARGV[5], false)
end
if not till then
  return failure
end
local value = call('GET', K)
if not value then
  return { 0, 0, '', now }
end
if owner_of(value) == owner then
  local granted, removed, is_named = nil, {}, true
  is_named = value:sub(24, 39) == named -- control: token_of_a_cede
  if is_named then
    for _, waiter in ipairs(read_queue()) do
      local id = owner_of(waiter)
      if id == owner or not is_before(call('ZSCORE', Q, waiter), waiter, stamp, entry) then
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
  end
  if not granted then
    return held(value, till)
  end
  local token = new_token(fence)
  enqueue(entry, stamp)
  add_members(removed, granted)
  local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
  value = grant(granted, CLAIM_MS, token, remaining)
end
local answer = waiting(call('ZSCORE', Q, entry), 1, value)
answer[4] = now
return answer
