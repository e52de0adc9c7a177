-- KEYS K F Q, ARGV owner+label, ttl in ms (negative: do not queue).
-- The beginning of acquire: what most calls come for, before anything is made that only the others
-- need. A lock that is free and that nobody queues for is taken, and one's own is confirmed. What the
-- records are and why is in grant.lua, what is answered in acquire.lua.
local K, F, Q = KEYS[1], KEYS[2], KEYS[3]
local entry = ARGV[1]
local me = entry:sub(1, 22)
local ttl = ARGV[2]:match('%d+')
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
    local granted = ' ' .. token
    -- The token's time is now, so a day after it is a day from now.
    call('SET', F, token, 'PX', '86400000')
    call('SET', K, me .. granted .. entry:sub(23), 'PX', ttl)
    return granted
  end
end

-- Takes no look at F and Q, and no memory: a grant can be confirmed whatever became of them and of
-- the server.
local value = call('GET', K)
if value and value:sub(1, 22) == me then
  -- Set, not only raised: a claim may be longer than the ttl, and would block others for that long if
  -- its holder died. All acquires of an owner ask for one ttl, so one that arrives late sets no less
  -- than what was granted before it.
  call('PEXPIRE', K, ttl)
  return value:sub(23, 39)
end

