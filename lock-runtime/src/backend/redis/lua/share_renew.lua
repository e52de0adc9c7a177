-- KEYS K R, ARGV member of R, ttl in ms. Extends the lease of a share, and K with it. Never shortens one, and never
-- creates a share that is gone.
-- Answers flag+token, or nil if the share is not there.
local K, R, member, ttl = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local call = redis.call
local value = call('GET', K)
if value and value:match('^shared%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d[ +]') then
  local score = call('ZSCORE', R, member)
  local time = call('TIME')
  local now = time[1] * 1000000 + time[2]
  if not score or tonumber(score) <= now then
    return nil
  end
  local ends = math.max(score, now + ttl * 1000)
  local last = call('ZREVRANGE', R, '0', '0', 'WITHSCORES')[2]
  local expires = string.format('%.0f', math.ceil(math.max(last, ends) / 1000))
  call('PEXPIREAT', K, expires) -- control: share_raises_the_lock
  call('PEXPIREAT', R, expires)
  call('ZADD', R, 'XX', ends, member)
  return value:sub(23, 39)
end
-- A grant that the owner has not confirmed may be exclusive.
if not value
  or value:sub(1, 22) ~= member:sub(1, 22) -- control: share_owner_compared
then
  return nil
end
if call('PTTL', K) < tonumber(ttl) then
  call('PEXPIRE', K, ttl)
end
return value:sub(23, 39)
