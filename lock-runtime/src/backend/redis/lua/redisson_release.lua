-- KEYS lock, queue of a fair lock of that name; ARGV field. Frees a lock in Redisson's record, and wakes one waiter of
-- each client. Answers 1 freed, 0 the lock is absent, -1 it is another owner's.
local K, Q, field = KEYS[1], KEYS[2], ARGV[1]
local kind = redis.call('TYPE', K).ok
if kind == 'none' then
  return 0
end
if kind ~= 'hash' then
  return -1
end
if redis.call('HEXISTS', K, field) == 0 then return -1 end -- control: redisson_owner_compare_on_release
redis.call('DEL', K)
-- A message that cannot be sent must not undo the release: waiters poll.
local channel = 'redisson_lock__channel' .. Q:sub(#'redisson_lock_queue' + 1)
redis.pcall('PUBLISH', channel, '0')
-- The first waiter of a fair lock listens to a channel of its own. Without this message it would wait until the lease
-- ends.
local first = redis.pcall('LINDEX', Q, 0)
if type(first) == 'string' then
  redis.pcall('PUBLISH', channel .. ':' .. first, '0')
end
return 1
