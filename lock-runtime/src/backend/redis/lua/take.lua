-- Follows limits.lua. KEYS K F Q, ARGV owner+label, ttl in ms (negative: do not queue).
-- The first part of acquire: takes a lock that is free and without waiters, or confirms the caller's own. Most
-- calls end here, before anything is built that only contended locks need. The records are described in
-- grant.lua, the answers in acquire.lua.
local K, F, Q = KEYS[1], KEYS[2], KEYS[3]
local entry = ARGV[1]
local owner = entry:sub(1, 22)
local ttl = ARGV[2]:match('%d+')
local call = redis.call

-- A missing key has no wrong type either.
if call('EXISTS', K, Q) == 0 then
  local fence, time = call('GET', F), call('TIME')
  -- The token is joined as text, since converting a number to text costs as much as a command.
  local micros = time[2]
  while #micros < 6 do
    micros = '0' .. micros
  end
  local token = time[1] .. micros
  -- The rest of acquire handles a clock before 2001, and a fence that is ahead of the clock or not a number.
  if #token == 16 and (not fence or fence:match('^%d+$') and token - fence >= TURNS) then
    local granted = ' ' .. token
    -- The token is the current time, so the fence expires a day after the token's time.
    call('SET', F, token, 'PX', '86400000')
    call('SET', K, owner .. granted .. entry:sub(23), 'PX', ttl)
    return granted
  end
end

-- Reads neither F nor Q and needs no memory: a grant can be confirmed in any state of these and of the server.
local value = call('GET', K)
if value and value:sub(1, 22) == owner then
  -- Set, not only raised: a claim longer than the ttl would block waiters for that long if its holder died. All
  -- acquires of an owner have the same ttl, so a late one does not shorten its lease.
  call('PEXPIRE', K, ttl)
  return value:sub(23, 39)
end
