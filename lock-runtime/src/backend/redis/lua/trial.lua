-- KEYS K F Q R, ARGV `exclusive`, `shares` or `quorum`. Calls each command that the scripts for such locks call, except
-- those whose refusal they accept: a user that could not release a lock, or hand it off, must not get one.
-- The calls name a record that is absent, and change nothing there. An absent record has no wrong type either.
-- Answers 1 all commands work, 0 each record exists, so nothing was tried. Otherwise a command's own error.
local call = redis.call
for _, key in ipairs(KEYS) do
  if call('EXISTS', key) == 0 then
    call('TIME')
    call('GET', key)
    call('SET', key, '', 'XX', 'PX', '1')
    call('SET', key, '', 'XX', 'PXAT', '1')
    call('SETRANGE', key, '0', '')
    call('PTTL', key)
    call('PEXPIRE', key, '1')
    call('ZADD', key, 'XX', '0', '')
    call('ZCARD', key)
    call('ZSCORE', key, '')
    call('ZCOUNT', key, '0', '0')
    call('ZRANGEBYSCORE', key, '0', '0')
    call('ZREVRANGE', key, '0', '0')
    call('ZREM', key, '')
    call('DEL', key)
    if ARGV[1] == 'shares' then
      call('PEXPIREAT', key, '1')
      call('ZREMRANGEBYSCORE', key, '0', '0')
    elseif ARGV[1] == 'quorum' then
      call('ZRANK', key, '')
    end
    return 1
  end
end
return 0
