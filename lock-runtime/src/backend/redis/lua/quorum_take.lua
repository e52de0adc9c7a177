-- KEYS K F Q M, ARGV owner+label, ttl in ms (negative: do not queue), stamp (µs), p, boot, delay in ms.
-- The first part of a node's acquire: takes a lock that is free and without waiters, on a node whose votes count. Most
-- calls end here, before anything is made that only contended locks need. The records are described in grant.lua and
-- quorum_node.lua, p and the answers in quorum_acquire.lua.
local K, F, Q, M = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local entry = ARGV[1]
local owner = entry:sub(1, 22)
local ttl = ARGV[2]:match('%d+')
local boot, delay = ARGV[5], ARGV[6]
local call = redis.call

-- A key that does not exist has no wrong type either.
if call('EXISTS', K, Q) == 0 then
  local fence, marker, time = call('GET', F), call('GET', M), call('TIME')
  -- As in take.lua.
  local micros = time[2]
  while #micros < 6 do
    micros = '0' .. micros
  end
  local token = time[1] .. micros
  local known = boot .. ' ' .. delay .. ' '
  -- Texts of sixteen digits are in the order of their numbers.
  if #token == 16
    and marker and #marker == #known + 16 and marker:sub(1, #known) == known and marker:sub(-16) <= token
  then
    local now = tonumber(token)
    local proposed = ARGV[4]:match('^=?(%d+)$')
    local ahead = proposed and proposed - now
    -- The rest of acquire handles a proposal that is no number or far ahead, and what take.lua leaves to it.
    if ahead and (ahead <= 0 or #proposed == 16 and ahead <= 1000000 and (delay == '0' or ahead <= delay * 250)) then
      if ahead > 0 then
        token = proposed
      end
      if not fence or fence:match('^%d+$') and token - fence >= 16 then
        local granted = ' ' .. token
        -- A day, and how far the token may be ahead.
        call('SET', F, token, 'PX', '86401000')
        call('SET', K, owner .. granted .. entry:sub(23), 'PX', ttl)
        return { granted, 0, now }
      end
    end
  end
end
