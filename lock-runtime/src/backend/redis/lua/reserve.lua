-- KEYS K of each lock, ARGV owner, ms. Keeps the locks reserved this long, although their holder is done: the owner's id
-- is replaced by `rested` and the token, so that no late command of the owner finds the lock its own.
-- Answers 1 all are reserved, -1 one is not the owner's. One of another type is an error; the others are reserved.
local answer = 1
for _, K in ipairs(KEYS) do
  -- By pcall: a record of another type must not keep the other locks from being reserved.
  local value = redis.pcall('GET', K)
  if type(value) == 'table' then
    answer = value
  elseif value and value:sub(1, 22) == ARGV[1] then
    -- A server out of memory allows the first write. It then allows the rest of the script.
    redis.call('PEXPIRE', K, ARGV[2])
    redis.call('SETRANGE', K, '0', 'rested' .. value:sub(24, 39))
  elseif answer == 1 then
    answer = -1
  end
end
return answer
