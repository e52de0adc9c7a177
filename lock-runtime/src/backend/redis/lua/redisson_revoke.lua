-- KEYS lock, queue of a fair lock of that name; ARGV each field of the record, with its value. Takes a lock in Redisson's
-- record from its holders, and wakes one waiter of each client. The holders learn of it by their next renewal.
-- Answers 1 freed. Otherwise nothing is written: 0 the lock is absent, -1 its record is another one.
local K, Q = KEYS[1], KEYS[2]
local kind = redis.call('TYPE', K).ok
if kind == 'none' then
  return 0
end
local is_seen = kind == 'hash' and redis.call('HLEN', K) * 2 == #ARGV
for place = 1, #ARGV, 2 do
  is_seen = is_seen and redis.call('HGET', K, ARGV[place]) == ARGV[place + 1]
end
if not is_seen then
  return -1
end
redis.call('DEL', K)
-- A message that cannot be sent must not undo the revocation: waiters poll.
local channel = 'redisson_lock__channel' .. Q:sub(#'redisson_lock_queue' + 1)
redis.pcall('PUBLISH', channel, '0')
-- The first waiter of a fair lock listens to a channel of its own. Without this message it would wait until the lease
-- ends.
local first = redis.pcall('LINDEX', Q, 0)
if type(first) == 'string' then
  redis.pcall('PUBLISH', channel .. ':' .. first, '0')
end
return 1
