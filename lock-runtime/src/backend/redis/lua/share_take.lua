-- Follows limits.lua. KEYS K F Q R, ARGV owner+tag+label, ttl in ms (negative: do not queue) [, time of the owner's
-- grant in µs: a downgrade, only if the owner holds K].
-- The first part of share_acquire: begins to share a free lock, or joins those that share it, while no waiter queues.
-- Most calls end here. The records are described in grant.lua and share.lua, the answers in share_acquire.lua.
local K, F, Q, R = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local entry = ARGV[1]
local owner = entry:sub(1, 22)
local take, limit, label = entry:match('^\31(%d+)/(%d+)\31(.*)', 24)
local member = take == '1' and owner or owner .. '*' .. take
take, limit = tonumber(take), tonumber(limit)
local ttl = ARGV[2]:match('%d+')
local granted_at = ARGV[3]
local is_downgrade = granted_at ~= nil
local call = redis.call

-- A missing key has no wrong type either.
if not is_downgrade and call('EXISTS', K, Q, R) == 0 then
  local fence, time = call('GET', F), call('TIME')
  -- As in take.lua.
  local micros = time[2]
  while #micros < 6 do
    micros = '0' .. micros
  end
  local token = time[1] .. micros
  if #token == 16 and (not fence or fence:match('^%d+$') and token - fence >= TURNS) then
    local granted = ' ' .. token
    local ends = token + ttl * 1000
    local expires = string.format('%.0f', math.ceil(ends / 1000))
    call('SET', F, token, 'PX', '86400000')
    call('SET', K, 'shared' .. token .. granted .. ' shared: ' .. label, 'PXAT', expires)
    call('ZADD', R, ends, member, -take, '=')
    call('PEXPIREAT', R, expires)
    return granted
  end
elseif not is_downgrade then
  local shared = call('GET', K)
  if shared and shared:match('^shared%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d ') and call('EXISTS', Q) == 0 then
    local sum = call('ZSCORE', R, '=')
    if sum
      and (limit == 0 or take - sum <= limit) -- control: share_limit_compared
      and not call('ZSCORE', R, member)
    then
      local time = call('TIME')
      local now = time[1] * 1000000 + time[2]
      local last = tonumber(call('ZREVRANGE', R, '0', '0', 'WITHSCORES')[2])
      -- If all have lapsed, the next share begins another phase.
      if last > now then
        local ends = now + ttl * 1000
        call('ZADD', R, ends, member, sum - take, '=')
        if ends >= last then
          local expires = string.format('%.0f', math.ceil(ends / 1000))
          call('PEXPIREAT', K, expires) -- control: share_raises_the_lock
          call('PEXPIREAT', R, expires)
        end
        return shared:sub(23, 39)
      end
    end
  end
end
