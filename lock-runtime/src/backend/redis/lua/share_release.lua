-- Follows limits.lua. KEYS K R, ARGV member of R. Removes the share unless a waiter queues. The last share frees K.
-- Answers 1 removed, 2 a waiter queues, or the owner holds K alone (nothing done: send `share_end`), 0 K is absent, -1
-- there is no such share.
local K, R, member = KEYS[1], KEYS[2], ARGV[1]
local call = redis.call
local value = call('GET', K)
if not value then
  return 0
end
if value:sub(1, 22) == member:sub(1, 22) then
  return 2
end
if not value:match('^shared%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d[ +]') then
  return -1
end
local ends, sum = call('ZSCORE', R, member), call('ZSCORE', R, '=')
if not sum
  or not ends -- control: share_owner_compared
then
  return -1
end
if value:sub(23, 23) == '+' then
  return 2
end

local function take_of(text)
  return tonumber(text:match('%*(%d+)$')) or 1
end

-- The sum is minus the permits taken.
sum = sum + take_of(member)
local removed = { member }
if sum < 0 then
  local time = call('TIME')
  local now = time[1] * 1000000 + time[2]
  local lapsed = call('ZRANGEBYSCORE', R, '0', now, 'LIMIT', '0', MAX_CHECKED)
  for _, other in ipairs(lapsed) do
    if other ~= member then
      sum = sum + take_of(other)
      removed[#removed + 1] = other
    end
  end
end
if sum >= 0 then
  -- In one command: a script names no key that it may have removed.
  call('DEL', K, R)
  return 1
end
call('ZREM', R, unpack(removed))
call('ZADD', R, sum, '=')
local last = tonumber(call('ZREVRANGE', R, '0', '0', 'WITHSCORES')[2])
if last < tonumber(ends) then
  -- A share that is gone must not keep waiters out.
  local expires = string.format('%.0f', math.ceil(last / 1000))
  call('PEXPIREAT', K, expires)
  call('PEXPIREAT', R, expires)
end
return 1
