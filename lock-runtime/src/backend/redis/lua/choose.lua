-- Part of acquire and end, after grant.lua: chooses the next holder of a lock that one owner holds at a time.

local RECENT_US = 1000000 -- a poll that is not older shows that the waiter's process is subscribed

-- The entries of `count` waiters from the place `first` on, where the head is at '0', or the error of Q.
local function read_queue(first, count)
  return redis.pcall('ZRANGEBYSCORE', Q, '0', '+inf', 'LIMIT', first, count)
end

-- Notifies a waiter of its grant. Returns whether its process is there to confirm it.
local function accepts(owner, alive)
  return (alive > LIVE_US - RECENT_US or is_subscribed(owner)) and notify(owner)
end

-- Reads only the head.
local function read_head()
  return read_queue('0', '1')
end

-- Checks these waiters in order. Returns the entry that is granted the lock, or nil, and `removed`, with the members of
-- dead waiters and of the owner `ended` added. The owner `sender` needs no message, since its process has sent this
-- script. Writes nothing.
local function choose(waiters, sender, ended, removed)
  removed = removed or {}
  for _, entry in ipairs(waiters) do
    local owner = owner_of(entry)
    if owner == sender then
      return entry, removed
    end
    local alive = alive_for(owner)
    if owner == ended or alive <= 0 then
      add_members(removed, entry)
    elseif accepts(owner, alive) then
      return entry, removed
    end
  end
  return nil, removed
end

-- Like `choose`, for the whole queue, after its `head` was read. The head is usually chosen, and then no others are
-- read: reading a hundred took a quarter of the script's time. Checks at most MAX_CHECKED waiters.
local function choose_from(head, sender, ended)
  local entry, removed = choose(head, sender, ended)
  if entry or #head == 0 then
    return entry, removed
  end
  return choose(read_queue('1', MAX_CHECKED - 1), sender, ended, removed)
end
