-- Follows grant.lua and share.lua. KEYS K F Q R, ARGV owner+label, with a tag if it asked for a share.
-- Afterwards the owner neither holds, alone or with others, nor queues. Waiters that fit are admitted.
-- Answers, if it held: 1 given back, 2 and granted to waiters. Otherwise: 3 left the queue, 0 K is absent, -1 K is not
-- the owner's.
local entry = ARGV[1]
local owner = owner_of(entry)
local take = share_of(entry) or 1
local member = member_of(owner, take)
local ends, is_counted = find_share(member)
local is_holder = value and not phase
  and owner_of(value) == owner -- control: share_owner_compared

-- If a record has another type, no waiter can be granted the lock, but the owner's share must not stay.
local fence, members = read_fence(), redis.pcall('ZCARD', Q)
local has_queue = type(members) == 'number'
local is_readable = fence and has_queue and (phase or type(redis.pcall('ZCARD', R)) == 'number')

local left = 0
-- A server out of memory allows the first write.
if ends then
  call('ZREM', R, member)
  taken = taken - (is_counted and take or 0)
elseif not is_holder then
  left = call('ZREM', Q, entry, owner)
  -- The waiters behind it may be admitted, unless another owner holds the lock alone.
  if left == 0 or not is_readable or value and not taken then
    return left > 0 and 3 or value and -1 or 0
  end
  members = members - left
end

local is_free = not phase or taken <= 0
local choice = new_choice(not is_free and taken or nil)
local remaining = has_queue and members or 1
-- Without members Q is gone: a script names no key that it may have removed.
if has_queue and members > 0 then
  if is_readable then
    -- While others share the lock, admits no more than was given back: confirmations admit the others.
    choose_shares(choice, is_free and MAX_UNCONFIRMED or math.min(MAX_UNCONFIRMED, take + lapsed_take), nil, owner)
  end
  add_members(choice.removed, entry)
  remaining = remove_waiters(choice.removed)
end
if not is_free then
  continue_phase(choice, remaining)
elseif choice.head then
  call('DEL', R)
  grant(choice.head, CLAIM_MS, new_token(fence), remaining)
elseif #choice.shares > 0 then
  begin_phase(choice, new_token(fence), remaining)
elseif value then
  call('DEL', K, R)
end
if left > 0 then
  return 3
end
return (choice.head or #choice.shares > 0) and 2 or 1
