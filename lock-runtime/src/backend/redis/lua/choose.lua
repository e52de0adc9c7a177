-- Part of acquire and end, after grant.lua: the next holder of a lock that is held by one owner at a time.

-- The entries of waiters, the head first, or the error of Q.
local function read_queue()
  return redis.pcall('ZRANGEBYSCORE', Q, '0', '+inf', 'LIMIT', '0', MAX_CHECKED)
end

-- Checks the waiters from the head on. Returns the entry to grant the lock to, or nil, and the members of waiters
-- that are dead, and of the owner `ended`. The owner `sender`, whose process has sent this
-- script, needs no message. Writes nothing.
local function choose(waiters, sender, ended)
  local removed = {}
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
