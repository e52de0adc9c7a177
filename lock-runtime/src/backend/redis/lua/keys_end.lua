-- Follows grant.lua and choose.lua. KEYS K F Q of each lock, ARGV owner+label.
-- Afterwards the owner neither holds nor queues for any of the locks; each goes to the head of its queue.
-- Answers, if all were the owner's: 1 freed, 2 one was handed off. Otherwise: 3 it held some, or left a queue, 0 none.
local entry = ARGV[1]
local owner = owner_of(entry)

-- Ends the owner for the lock of K, F and Q. Answers like the script, for one lock.
local function end_one()
  -- By pcall: a record of another type must not keep the other locks.
  local value = redis.pcall('GET', K)
  if type(value) ~= 'string' or owner_of(value) ~= owner then
    local left = redis.pcall('ZREM', Q, entry, owner)
    return type(left) == 'number' and left > 0 and 3 or 0
  end
  -- If the fence or the queue cannot be read, the lock cannot be granted, but K must not stay.
  local fence, first = read_fence(), read_head()
  if not fence or first.err then
    call('DEL', K)
    return 1
  end
  local head, removed = choose_from(first, nil, owner)
  add_members(removed, entry)
  if not head then
    call('ZREM', Q, unpack(removed))
    call('DEL', K)
    return 1
  end
  add_members(removed, head)
  local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(removed))
  -- A server out of memory has allowed the writes of this script from the first one on.
  grant(head, CLAIM_MS, new_token(fence), remaining)
  return 2
end

local held, answer, any = 0, 1, 0
for number = 1, #KEYS / 3 do
  K, F, Q = KEYS[3 * number - 2], KEYS[3 * number - 1], KEYS[3 * number]
  local ended = end_one()
  if ended == 1 or ended == 2 then
    held = held + 1
    answer = math.max(answer, ended)
  end
  any = math.max(any, ended)
end
if held == #KEYS / 3 then
  return answer
end
return any > 0 and 3 or 0
