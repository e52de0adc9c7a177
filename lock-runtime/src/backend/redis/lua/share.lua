-- Part of share_acquire and share_end, after grant.lua: locks that several owners share.
--
-- A share is a lease of K alongside others. The time from the first share to the last is a phase, with one token. In a
-- phase K's value is `shared` token(16) flag(1) token(16) ` shared: ` label: like any other value with a holder. K
-- expires with the last share.
-- R, the shares: the member `owner`, or `owner*take` if it takes more than 1, is scored with its expiry (µs). The
--   member `=` is scored with minus the sum of all permits taken. R means nothing unless K is shared. It expires with K.
-- The entry of a share in Q has a tag before its label: 0x1F take/limit 0x1F. The limit 0 means that there is none.
local R = KEYS[4]
local CLAIM_US = 1500000
-- The maximum number of unconfirmed grants: more could not all be confirmed within their claim. At first this many are
-- granted, and then one with each confirmation.
local MAX_UNCONFIRMED = 32
-- Waiters are read in two parts, which are MAX_CHECKED together. Usually the first part decides.
local FIRST_PART, SECOND_PART = '2', '126'

-- Returns the permits of an entry, and its limit; nil for an entry that asks for the lock exclusively.
local function share_of(entry)
  local take, limit = entry:match('^\31(%d+)/(%d+)\31', 24)
  return tonumber(take), tonumber(limit)
end

local function member_of(owner, take)
  return take > 1 and owner .. '*' .. take or owner
end

-- Returns whether a share may join others that take `taken`. Each share brings its own limit, and K stores none. A
-- single share always fits: an entry with an impossible limit must not block the queue of a free lock.
local function fits(taken, take, limit)
  if taken > 0 and limit > 0 and taken + take > limit then return false end -- control: share_limit_compared
  return true
end

-- Returns the expiry (ms) of a key that must not expire before a share.
local function expiry(ends)
  return string.format('%.0f', math.ceil(ends / 1000))
end

local value = call('GET', K)
-- The token of the phase.
local phase = value and value:match('^shared(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)[ +]')
-- The permits of all shares except lapsed ones. Nil if K is not shared, or if R was lost, for example evicted: then no
-- share can join, and K lasts until its expiry.
local taken
local lapsed, lapsed_take = {}, 0
if phase then
  local sum = call('ZSCORE', R, '=')
  if sum then
    lapsed = call('ZRANGEBYSCORE', R, '0', now, 'LIMIT', '0', MAX_CHECKED) -- control: lapsed_shares_taken_off
    for _, member in ipairs(lapsed) do
      lapsed[member] = true
      lapsed_take = lapsed_take + (tonumber(member:match('%*(%d+)$')) or 1)
    end
    taken = -sum - lapsed_take
  end
end

-- Returns the expiry of a share in R, or nil; and whether `taken` includes the share. A lapsed share is included if
-- this script does not remove it.
local function find_share(member)
  local ends = taken and tonumber(call('ZSCORE', R, member) or nil)
  return ends, ends and not lapsed[member]
end

-- Creates a choice without shares. `beside` is the number of permits of the shares that stay; nil if there are none.
local function new_choice(beside)
  return { beside = beside, taken = beside or 0, shares = {}, removed = {} }
end

-- Adds the share of `entry` to the choice, if its owner does not share the lock already.
local function add_share(choice, entry, take)
  local ends, is_counted
  if choice.beside then
    ends, is_counted = find_share(member_of(owner_of(entry), take))
  end
  if not ends or ends <= now then
    choice.shares[#choice.shares + 1] = entry
    choice.taken = choice.taken + (is_counted and 0 or take)
  end
end

-- Returns whether a waiter would confirm a grant: it has polled within the time of a claim, and its process is
-- subscribed. Waiters poll every 0.6 s.
local function is_there(owner, alive)
  return alive > LIVE_US - CLAIM_US and is_subscribed(owner)
end

-- Checks the waiters from the head on, and adds the admitted ones to the choice: shares, or as `head` a waiter that is
-- granted the lock exclusively. Admits at most `most` shares, but always the `sender`, which needs no message. If the
-- sender is at `place`, waiters that are MAX_UNCONFIRMED places before it are left to the waiters in between. Stops at
-- the first live waiter that cannot be admitted, so that none is overtaken. Sets `is_blocked` if a waiter stays that
-- comes before newcomers. Collects dead waiters, and the owner `ended`, for removal from the queue. Writes nothing.
local function choose_shares(choice, most, sender, ended, place)
  local checked = 0
  for _, part in ipairs({ { '0', FIRST_PART }, { FIRST_PART, SECOND_PART } }) do
    local waiters = call('ZRANGEBYSCORE', Q, '0', '+inf', 'LIMIT', part[1], part[2])
    for _, entry in ipairs(waiters) do
      checked = checked + 1
      local owner = owner_of(entry)
      local take, limit = share_of(entry)
      local alive = owner == sender and LIVE_US or alive_for(owner)
      local may_go_in = owner == sender
        or #choice.shares < most and not (place and place - checked >= MAX_UNCONFIRMED)
      if take then
        may_go_in = may_go_in and fits(choice.taken, take, limit)
      else
        may_go_in = may_go_in and not choice.beside and #choice.shares == 0
      end
      if owner == ended or alive <= 0 then
        add_members(choice.removed, entry)
      elseif owner == sender or is_there(owner, alive) then
        if not may_go_in then
          choice.is_blocked = true
          return
        end
        if owner == sender or notify(owner) then
          add_members(choice.removed, entry)
          if not take then
            choice.head, choice.is_blocked = entry, true
            return
          end
          add_share(choice, entry, take)
          choice.has_sender = choice.has_sender or owner == sender
        end
      end
    end
    if #waiters < tonumber(part[2]) then
      return
    end
  end
  choice.is_blocked = true
end

-- Removes members of waiters. Returns how many are left. Q is counted before, since a script names no key that it may
-- have removed.
local function remove_waiters(removed)
  local members = call('ZCARD', Q)
  return #removed > 0 and members - call('ZREM', Q, unpack(removed)) or members
end

-- Writes the shares of a choice to R, and their sum. The share of `sender` lasts until `ends`, every other one for a
-- claim. Returns when the last share lapses.
local function write_shares(choice, sender, ends)
  local scores = { -choice.taken, '=' }
  for _, entry in ipairs(choice.shares) do
    local owner = owner_of(entry)
    scores[#scores + 1] = owner == sender and ends or now + CLAIM_US
    scores[#scores + 1] = member_of(owner, (share_of(entry)))
  end
  call('ZADD', R, unpack(scores))
  return tonumber(call('ZREVRANGE', R, '0', '0', 'WITHSCORES')[2])
end

-- Begins a phase of the chosen shares, with the label of the first. `remaining` is the number of members left in Q. A Q
-- of another type counts as one with waiters. Returns K's value.
local function begin_phase(choice, token, remaining, sender, ends)
  -- Removes the shares of an earlier phase, which are left if K was deleted. `=` stays, so that R is never empty in
  -- between.
  call('ZADD', R, '+inf', '=')
  call('ZREMRANGEBYSCORE', R, '-inf', '(+inf')
  local expires = expiry(write_shares(choice, sender, ends))
  local flag = remaining > 0 and '+' or ' '
  local label = choice.shares[1]:match('^\31%d+/%d+\31(.*)', 24)
  value = 'shared' .. token .. flag .. token .. ' shared: ' .. label
  call('SET', K, value, 'PXAT', expires)
  call('PEXPIREAT', R, expires)
  return value
end

-- Continues the phase: adds the chosen shares, and removes lapsed ones. Returns K's value.
local function continue_phase(choice, remaining, sender, ends)
  if #lapsed > 0 then
    call('ZREM', R, unpack(lapsed))
  end
  local last = write_shares(choice, sender, ends)
  local flag = remaining > 0 and '+' or ' '
  if value:sub(23, 23) ~= flag then
    call('SETRANGE', K, '22', flag)
    value = value:sub(1, 22) .. flag .. value:sub(24)
  end
  -- May lower the expiry, so that a share that is gone keeps no waiter out. Never sets it in the past, since that would
  -- delete K.
  local expires = expiry(math.max(last, now + 1))
  call('PEXPIREAT', K, expires) -- control: share_raises_the_lock
  call('PEXPIREAT', R, expires)
  return value
end
