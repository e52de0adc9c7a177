-- A node of a quorum. KEYS K F Q M, ARGV owner+label, ttl in ms (negative: do not queue), stamp (µs), proposed token,
-- boot of this node, delay in ms.
-- The first part of acquire: takes a lock that is free and without waiters, on a node that has not lost data. Most
-- calls end here. The records are described in grant.lua and quorum_node.lua, the answers in quorum_acquire.lua.
local K, F, Q, M = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local entry = ARGV[1]
local owner = entry:sub(1, 22)
local ttl = ARGV[2]:match('%d+')
local call = redis.call

if call('EXISTS', K, Q) == 0 then
  local fence, marker, time = call('GET', F), call('GET', M), call('TIME')
  local micros = time[2]
  while #micros < 6 do
    micros = '0' .. micros
  end
  local token = time[1] .. micros
  local boot_and_delay = ARGV[5] .. ' ' .. ARGV[6] .. ' '
  if #token == 16
    and marker and marker:sub(1, #boot_and_delay) == boot_and_delay and token >= marker:sub(#boot_and_delay + 1)
    and (not fence or fence:match('^%d+$') and token - fence >= 16)
  then
    local now = tonumber(token)
    -- A proposal of this time: the rest of acquire handles those that are far ahead.
    local proposed = ARGV[4]:match('^=?(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)$')
    if proposed and proposed > token and proposed - now < 100000 then
      token = proposed
    end
    if not proposed or proposed - now < 100000 then
      local granted = ' ' .. token
      call('SET', F, token, 'PX', '86400100')
      call('SET', K, owner .. granted .. entry:sub(23), 'PX', ttl)
      return { granted, 0, now }
    end
  end
end
