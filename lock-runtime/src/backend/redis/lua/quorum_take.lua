-- Follows limits.lua. KEYS K F Q M, ARGV owner+label, ttl in ms (negative: do not queue), stamp (µs), p, boot, delay in
-- ms.
-- The first part of a node's acquire: takes a lock that is free and without waiters, or confirms the caller's own, on a
-- node whose votes count. Most calls end here, before anything is built that only other calls need. The records are
-- described in grant.lua and quorum_node.lua, p and the answers in quorum_acquire.lua, which handles the rest.
local K, F, Q, M = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local entry = ARGV[1]
local owner = entry:sub(1, 22)
local ttl = ARGV[2]:match('%d+')
local boot, delay = ARGV[5], ARGV[6]
local call = redis.call

-- A missing key has no wrong type either.
local is_free = call('EXISTS', K, Q) == 0
local value = not is_free and call('GET', K)
if (is_free or value and value:sub(1, 22) == owner) and call('GET', M) == boot .. ' ' .. delay then
  local time = call('TIME')
  -- As in take.lua.
  local micros = time[2]
  while #micros < 6 do
    micros = '0' .. micros
  end
  local token = time[1] .. micros
  local proposed = ARGV[4]:match('^=?(%d+)$')
  if proposed and #token == 16 then
    local now = tonumber(token)
    if is_free then
      local ahead, fence = proposed - now, call('GET', F)
      -- The rest of acquire handles a proposal that is far ahead, and the cases that take.lua leaves to it.
      if ahead <= 0 or #proposed == 16 and ahead <= 1000000 and (delay == '0' or ahead <= delay * 250) then
        if ahead > 0 then
          token = proposed
        end
        if not fence or fence:match('^%d+$') and token - fence >= TURNS then
          local granted = ' ' .. token
          -- A day, and how far the token may be ahead.
          call('SET', F, token, 'PX', '86401000')
          call('SET', K, owner .. granted .. entry:sub(23), 'PX', ttl)
          return { granted, now }
        end
      end
    -- Sixteen digits compare as text like their numbers.
    elseif #proposed == 16 and proposed <= value:sub(24, 39) then
      -- The token does not rise, so F stays as it is. The expiry is never lowered: see quorum_node.lua.
      local left = call('PTTL', K)
      call('PEXPIRE', K, left < tonumber(ttl) and ttl or left)
      return { value:sub(23, 39), now }
    end
  end
end
