-- Follows limits.lua. Part of acquire and end, for shares, too: the records, and how a waiter is granted a lock.
--
-- K, the lock:  owner(22) flag(1) token(16) label. The flag is '+' while a waiter queues, else ' '. A holder that asked for
--   no token has its own time in ms instead; only such a time begins with a zero.
-- F, the fence: the last token.
-- Q, the queue: two members for each waiter. Its entry, `owner + label`, is scored with its ticket (µs, in order
--   of arrival). Its heartbeat, the bare `owner`, is scored with minus the time (µs) until which the waiter counts
--   as alive. So a range from 0 up has the entries alone, oldest first.
--
-- Constants for commands are text: a server needs up to 0.4 µs to convert a number.
local K, F, Q = KEYS[1], KEYS[2], KEYS[3]
local CLAIM_MS = '1500'     -- how long a waiter has to confirm its grant
local LIVE_US = 6000000     -- how long a waiter counts as alive after its last poll
local QUEUE_MS = '7000'     -- Q expires a little after its last heartbeat
local FENCE_MS = 86400000   -- F expires a day after its token's time, or after a later mint
local FIRST_TOKEN = 1e15    -- the clock of September 2001; a smaller number stands for no token
local call = redis.call

local time = call('TIME')
local now = time[1] * 1000000 + time[2]

local function owner_of(text)
  return text:sub(1, 22)
end

-- Returns the last token, or nil and the error to answer with. Beyond the bound a double cannot represent every
-- integer, so two grants could get the same token.
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

-- Adds the members of a waiter to `list`.
local function add_members(list, entry)
  list[#list + 1] = entry
  list[#list + 1] = owner_of(entry)
end

-- Notifies the process of an owner. Zero receivers do not prove that the process is dead: in a cluster,
-- subscribers on other nodes are not counted. By pcall, because a refused PUBLISH must not end the script.
local function notify(owner)
  local receivers = redis.pcall('PUBLISH', 'lock:' .. owner:sub(1, 8), owner .. K)
  return type(receivers) == 'number' and receivers > 0
end

-- Whether the process of a waiter is subscribed. PUBLISH also counts subscribers to patterns, such as a monitor's
-- `PSUBSCRIBE *`. True if the user may not ask.
local function is_subscribed(owner)
  local subscribers = redis.pcall('PUBSUB', 'NUMSUB', 'lock:' .. owner:sub(1, 8))
  return subscribers.err or subscribers[2] > 0
end

-- How long (µs) a waiter still counts as alive; 0 or less if it is dead.
local function alive_for(owner)
  local heartbeat = call('ZSCORE', Q, owner)
  return heartbeat and -heartbeat - now or 0
end

-- Stores a new token for a holder that was granted K at this time (µs), and returns the token.
local function new_token_of(granted_at, fence)
  local token = math.max(fence + TURNS, granted_at, FIRST_TOKEN)
  -- Lua's own conversion to text keeps 14 digits only.
  local digits = string.format('%016.0f', token)
  call('SET', F, digits, 'PXAT', math.floor(math.max(token, now) / 1000) + FENCE_MS)
  return digits
end

-- The same for a holder that is granted K now.
local function new_token(fence)
  return new_token_of(now, fence)
end

-- Grants K to `entry`, which is out of the queue, for `px` ms. Returns K's value.
--
-- `remaining` is the number of members left in Q. Q is not asked, since it may be gone by now. In a slot that is
-- being migrated a script fails at a missing key, so no script names a key that it may have removed.
local function grant(entry, px, token, remaining)
  local flag = remaining > 0 and '+' or ' '
  local value = owner_of(entry) .. flag .. token .. entry:sub(23)
  call('SET', K, value, 'PX', px)
  return value
end

-- Returns the ticket for an owner that queues behind all waiters.
local function next_ticket()
  local last = call('ZREVRANGE', Q, '0', '0', 'WITHSCORES')[2] or 0
  return math.max(now, last + 1)
end

-- Adds `entry` to the queue, or keeps it there; refreshes its heartbeat.
local function enqueue(entry, ticket)
  call('ZADD', Q, ticket, entry, -(now + LIVE_US), owner_of(entry))
  call('PEXPIRE', Q, QUEUE_MS)
end
