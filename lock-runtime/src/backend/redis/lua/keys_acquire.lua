-- Follows grant.lua, choose.lua and queue.lua. KEYS K F Q of each lock, in the order of the locks' names. ARGV
-- owner+label, ttl in ms (negative: all at once or nothing, and do not queue).
-- Takes or confirms the locks in order, up to the first lock that the owner cannot have, and queues for that lock. All
-- callers take them in this order, so no two wait for each other.
-- Also the poll of a waiter, which extends the leases of the locks that it has. Idempotent.
-- Answers flag+token if the owner holds all; the flag is '+' if waiters queue for one of them. All locks get the same
-- token, above each lock's earlier tokens. Otherwise { number of the lock in the way, remaining ms, position, the first
-- bytes of its K's value }. The number is negative if the owner also has a later lock: an earlier answer was lost, and
-- then a lock.
local entry = ARGV[1]
local owner = owner_of(entry)
local ttl = ARGV[2]:match('%d+')
-- A positive ttl asks to queue.
local queues = ttl == ARGV[2]

local function turn_to(lock)
  K, F, Q = KEYS[3 * lock.number - 2], KEYS[3 * lock.number - 1], KEYS[3 * lock.number]
end

-- Reads as far as the owner gets. Writes nothing.
local locks, in_the_way = {}, nil
for number = 1, #KEYS / 3 do
  local lock = { number = number }
  turn_to(lock)
  local value = call('GET', K)
  lock.value = value
  if value and owner_of(value) == owner then
    lock.token = tonumber(value:sub(24, 39))
  else
    local failure
    lock.fence, failure = read_fence()
    if not lock.fence then
      return failure
    end
    lock.members = call('ZCARD', Q)
    if not value then
      lock.head, lock.removed = choose_from(read_head(), owner)
    end
    if value or lock.head and owner_of(lock.head) ~= owner then
      in_the_way = lock
      break
    end
    add_members(lock.removed, entry)
  end
  locks[number] = lock
end

local token = 0
for _, lock in ipairs(locks) do
  token = math.max(token, lock.token or math.max(lock.fence + TURNS, now, FIRST_TOKEN))
end
-- Stores the common token in F.
local function store_token()
  local digits = string.format('%016.0f', token)
  call('SET', F, digits, 'PXAT', math.floor(token / 1000) + FENCE_MS)
  return digits
end

local flag = ' '
if queues or not in_the_way then
  -- New locks first: a server out of memory refuses them before anything is written.
  for _, lock in ipairs(locks) do
    if lock.fence then
      turn_to(lock)
      local digits = store_token()
      lock.value = grant(entry, ttl, digits, lock.members - call('ZREM', Q, unpack(lock.removed)))
    end
  end
  for _, lock in ipairs(locks) do
    if lock.token then
      turn_to(lock)
      call('PEXPIRE', K, ttl)
      if lock.token < token then
        call('SETRANGE', K, '23', store_token())
      end
    end
    if lock.value:sub(23, 23) == '+' then
      flag = '+'
    end
  end
end
if not in_the_way then
  return flag .. string.format('%016.0f', token)
end

turn_to(in_the_way)
local value, members = in_the_way.value, in_the_way.members
local ticket = members > 0 and call('ZSCORE', Q, entry)
local is_refused = queues and not ticket and is_full(members)
if queues and not is_refused then
  ticket = join_queue(entry, ticket, members, value)
end
if not value then
  -- Only after the caller has queued, so that Q is never empty in between.
  add_members(in_the_way.removed, in_the_way.head)
  local remaining = call('ZCARD', Q) - call('ZREM', Q, unpack(in_the_way.removed))
  value = grant(in_the_way.head, CLAIM_MS, new_token(in_the_way.fence), remaining)
end
if is_refused then
  return redis.error_reply('LOCKQUEUEFULL too many waiters')
end
local number = in_the_way.number
for later = number + 1, #KEYS / 3 do
  -- By pcall: a record of another type is not the owner's.
  local held = redis.pcall('GET', KEYS[3 * later - 2])
  if type(held) == 'string' and owner_of(held) == owner then
    number = -in_the_way.number
  end
end
return { number, unpack(waiting(ticket, members, value)) }
