-- KEYS K of each lock, ARGV owner. Frees all of them unless a waiter queues for one.
-- Answers 1 freed, 2 a waiter queues, or one of the locks is not the owner's (nothing done: send `keys_end`), 0 none of
-- them is the owner's.
local held = 0
for _, K in ipairs(KEYS) do
  -- By pcall: a record of another type is another program's.
  local value = redis.pcall('GET', K)
  if type(value) == 'string' and value:sub(1, 22) == ARGV[1] then
    held = held + 1
    if value:sub(23, 23) == '+' then
      return 2
    end
  end
end
if held == 0 then
  return 0
end
if held < #KEYS then
  return 2
end
redis.call('DEL', unpack(KEYS))
return 1
