-- The beginning of acquire. A lock that is free and that nobody queues for is taken at once, as most
-- are, before anything is made that only the others need. The rules are those of grant.lua.
local K, F, Q = KEYS[1], KEYS[2], KEYS[3]
local call = redis.call

-- What does not exist has no wrong type either.
if call('EXISTS', K, Q) == 0 then
  local fence, time = call('GET', F), call('TIME')
  -- The token is put together as text: to turn a number into text costs as much as a command.
  local micros = time[2]
  while #micros < 6 do
    micros = '0' .. micros
  end
  local token = time[1] .. micros
  -- All else is for the long way: a clock before 2001, a fence that is ahead of the clock or is no
  -- number.
  if #token == 16 and (not fence or fence:match('^%d+$') and token - fence >= 16) then
    -- The token's time is now, so a day after it is a day from now.
    call('SET', F, token, 'PX', '86400000')
    local entry, granted = ARGV[1], ' ' .. token
    -- The ttl without its sign.
    local ttl = ARGV[2]:match('%d+')
    call('SET', K, entry:sub(1, 22) .. granted .. entry:sub(23), 'PX', ttl)
    return granted
  end
end

