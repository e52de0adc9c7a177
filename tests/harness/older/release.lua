-- KEYS K, ARGV owner. Frees K unless a waiter queues.
-- Answers 1 freed, 2 a waiter queues (nothing done: send `end`), 0 K is absent, -1 K is another owner's.
local value = redis.call('GET', KEYS[1])
if not value then
  return 0
end
if value:sub(1, 22) ~= ARGV[1] then return -1 end -- control: owner_compare_on_release
if value:sub(23, 23) == '+' then
  return 2
end
return redis.call('DEL', KEYS[1])
