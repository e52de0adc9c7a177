-- Part of acquire and end: how a lock without a holder finds its next one.
--
-- K, the lock:  owner(22) flag(1) token(16) label. The flag is '+' while somebody queues, else ' '.
-- F, the fence: the last token.
-- Q, the queue: two members a waiter. `owner + label` is scored with its ticket (µs, in order of
--   arrival); its twin, the bare `owner`, with minus the time (µs) until which the waiter counts as
--   alive. So a range from 0 up sees the waiters alone, oldest first.
--
-- Constants for commands are text: a server needs up to 0.4 µs to make text of a number.
local K, F, Q = KEYS[1], KEYS[2], KEYS[3]
local CLAIM_MS = '1500'     -- how long a waiter has to confirm that it was served
local LIVE_US = 6000000     -- how long a waiter counts as alive after its last poll
local RECENT_US = 1000000   -- a poll that is not older shows that its process listens
local QUEUE_MS = '7000'     -- Q outlives its last heartbeat by a little, and nothing else
local FENCE_MS = 86400000   -- F outlives its token by a day
local TURNS = 16            -- tokens that one grant owns
local WALK = '128'          -- bounds the work of one script
local call = redis.call

local time = call('TIME')
local now = time[1] * 1000000 + time[2]

local function owner_of(text)
  return text:sub(1, 22)
end

-- The last token, or nil and the error to answer. Beyond the bound a double would no longer hold
-- every integer, and two grants could get one token.
local function read_fence()
  local text = redis.pcall('GET', F)
  if type(text) == 'table' then
    return nil, text
  end
  local fence = text and text:match('^%d+$') and tonumber(text) or not text and 0
  if not fence or fence >= 2 ^ 53 - 32 then
    return nil, redis.error_reply('LOCKFENCE the fence is not a number below 2^53 - 32')
  end
  return fence
end

-- The waiters, the head first, or what is wrong with Q.
local function queue()
  return redis.pcall('ZRANGEBYSCORE', Q, '0', '+inf', 'LIMIT', '0', WALK)
end

-- Adds the members of a waiter to `list`.
local function add(list, entry)
  list[#list + 1] = entry
  list[#list + 1] = owner_of(entry)
end

-- Tells the process of a waiter. Nobody there is no proof of death: in a cluster, subscribers on
-- other nodes are not counted. By pcall, because a refused PUBLISH must not end the script.
local function tell(owner)
  local receivers = redis.pcall('PUBLISH', 'lock:' .. owner:sub(1, 8), owner .. K)
  return type(receivers) == 'number' and receivers > 0
end

-- Whether the process of a waiter is subscribed. PUBLISH does not tell: it also counts those who
-- subscribe to patterns, as a monitor's `PSUBSCRIBE *`. A user without the right to ask is told yes.
local function is_subscribed(owner)
  local subscribers = redis.pcall('PUBSUB', 'NUMSUB', 'lock:' .. owner:sub(1, 8))
  return subscribers.err or subscribers[2] > 0
end

-- Walks the waiters from the head. Answers the entry to be served (nil: nobody; `me` needs no push)
-- and the members to remove: those of waiters that are dead, or `ended`. Writes nothing.
local function choose(waiters, me, ended)
  local gone = {}
  for _, entry in ipairs(waiters) do
    local owner = owner_of(entry)
    if owner == me then
      return entry, gone
    end
    local twin = call('ZSCORE', Q, owner)
    local left = twin and -twin - now
    if owner == ended or not left or left <= 0 then
      add(gone, entry)
    elseif (left > LIVE_US - RECENT_US or is_subscribed(owner)) and tell(owner) then
      return entry, gone
    end
  end
  return nil, gone
end

-- Makes a new token and answers it.
local function mint(fence)
  local token = math.max(fence + TURNS, now)
  -- Lua's own conversion to text keeps 14 digits only.
  local digits = string.format('%016.0f', token)
  call('SET', F, digits, 'PXAT', math.floor(token / 1000) + FENCE_MS)
  return digits
end

-- Gives K to `entry`, which is out of the queue, for `px` ms. `left` is how many members Q still has: Q
-- itself is not asked, since it may have been emptied. In a slot that is being migrated a script fails
-- at a key that is missing, so no script names a key that it may have removed. Answers K's value.
local function give(entry, px, token, left)
  local flag = left > 0 and '+' or ' '
  local value = owner_of(entry) .. flag .. token .. entry:sub(23)
  call('SET', K, value, 'PX', px)
  return value
end

-- The ticket of whoever comes now, behind all others.
local function last_ticket()
  local last = call('ZREVRANGE', Q, '0', '0', 'WITHSCORES')[2] or 0
  return math.max(now, last + 1)
end

-- Puts `entry` in the queue, or keeps it there; refreshes its heartbeat.
local function enqueue(entry, ticket)
  call('ZADD', Q, ticket, entry, -(now + LIVE_US), owner_of(entry))
  call('PEXPIRE', Q, QUEUE_MS)
end
