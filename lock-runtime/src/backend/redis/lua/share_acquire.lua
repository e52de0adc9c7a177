-- Follows share_take.lua, grant.lua, queue.lua and share.lua: an owner confirms its share, or must look at the queue,
-- at shares that have lapsed, or at a lock that is held exclusively.
-- Also the poll of a waiter, and the downgrade of a holder. Idempotent.
-- Answers flag+token if the caller shares K, otherwise like `waiting`. For a share with a limit, the remaining time
-- ends when the first share lapses. A downgrade answers nil instead if the lock was lost, even if K is free by now.
local ends = now + ttl * 1000

if phase then
  local own_ends = find_share(member)
  if own_ends and own_ends > now then
    -- A server out of memory allows the first write. Neither this share nor K is ever shortened.
    local last = math.max(ends, tonumber(call('ZREVRANGE', R, '0', '0', 'WITHSCORES')[2]))
    call('PEXPIREAT', K, expiry(last)) -- control: share_raises_the_lock
    call('PEXPIREAT', R, expiry(last))
    if ends > own_ends then
      call('ZADD', R, ends, member)
    end
    local members = taken and value:sub(23, 23) == '+' and redis.pcall('ZCARD', Q)
    if type(members) == 'number' then
      -- Continues where the script that granted this share stopped.
      local choice = new_choice(taken)
      choose_shares(choice, 1 + lapsed_take)
      if #choice.removed > 0 or #lapsed > 0 or members == 0 then
        continue_phase(choice, remove_waiters(choice.removed))
      end
    end
    return value:sub(23, 39)
  end
elseif value
  and owner_of(value) == owner -- control: share_owner_compared
then
  -- Either a script for exclusive locks has granted K, or the holder downgrades. The turns of a held lock have used
  -- tokens, so a downgrade gets the next one, and without a token that of its grant, as in mint.lua: never the present
  -- time. If another server has granted the lock since, and this one does not know it, the token of that grant is higher.
  local is_granted = value:sub(41, 41) == '\31'
  local fence, failure = read_fence()
  if not fence and not is_granted then
    return failure
  end
  local choice = new_choice()
  add_share(choice, entry, take)
  local members = redis.pcall('ZCARD', Q)
  -- If R has another type, this fails before anything is written.
  call('ZCARD', R)
  if type(members) == 'number' and members > 0 then
    choose_shares(choice, 1 + MAX_UNCONFIRMED, nil, owner)
  end
  -- A server out of memory allows the first write.
  call('PEXPIRE', K, ttl)
  local token = value:sub(24, 39)
  if not is_granted then
    local has_token = token:sub(1, 1) ~= '0'
    token = new_token_of(has_token and token + TURNS or granted_at or now, fence)
  end
  local remaining = type(members) == 'number' and remove_waiters(choice.removed) or 1
  return begin_phase(choice, token, remaining, owner, ends):sub(23, 39)
end
-- Another writer may have held K since.
if is_downgrade then return nil end

local fence, failure = read_fence()
if not fence then
  return failure
end
local members = call('ZCARD', Q)
local ticket = members > 0 and call('ZSCORE', Q, entry)
if not phase then
  -- If R has another type, this fails before anything is written.
  call('ZCARD', R)
end

local is_free = not value or taken and taken <= 0
local choice
if is_free or taken then
  choice = new_choice(not is_free and taken or nil)
  if members > 0 then
    local place = not is_free and ticket and call('ZCOUNT', Q, '0', ticket)
    choose_shares(choice, (is_free or ticket) and MAX_UNCONFIRMED or 1, owner, nil, place)
  end
  if not ticket and not choice.is_blocked and fits(choice.taken, take, limit) then
    add_share(choice, entry, take)
    choice.has_sender = true
  end
end

-- A server out of memory refuses each of these first writes.
local token
local is_changed = choice and #choice.shares + #choice.removed + #lapsed > 0
if is_free and (choice.head or #choice.shares > 0) then
  token = new_token(fence)
elseif is_changed and not is_free then
  call('ZADD', R, -choice.taken, '=')
end

-- A positive ttl asks to queue.
local queues = ttl == ARGV[2] and not (choice and choice.has_sender)
local is_refused = queues and not ticket and is_full(members)
if queues and not is_refused then
  ticket = join_queue(entry, ticket, members, not is_free and value)
end
if is_changed then
  -- Only after the caller has queued, so that Q is never empty in between.
  local remaining = remove_waiters(choice.removed)
  if choice.head then
    -- R may be left from an earlier phase.
    call('DEL', R)
    value = grant(choice.head, CLAIM_MS, token, remaining)
  elseif token then
    value = begin_phase(choice, token, remaining, owner, ends)
  elseif not is_free then
    value = continue_phase(choice, remaining, owner, ends)
  end
  if choice.has_sender then
    return value:sub(23, 39)
  end
end
if is_refused then
  return redis.error_reply('LOCKQUEUEFULL too many waiters')
end

-- If K is free here, so many dead waiters were removed that the next poll must continue.
local answer = waiting(ticket, members, value or '', R)
if limit > 0 and answer[4] then
  local first = call('ZRANGEBYSCORE', R, string.format('(%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', '0', '1')[2]
  local remaining = first and math.ceil((first - now) / 1000)
  -- −1 stands for a key that does not expire.
  if remaining and (answer[1] < 0 or answer[1] > remaining) then
    answer[1] = remaining
  end
end
return answer
