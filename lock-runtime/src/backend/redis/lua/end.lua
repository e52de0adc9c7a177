-- KEYS K F Q, ARGV owner+label [, next owner+label of the same process, its ttl in ms].
-- Afterwards the owner neither holds nor queues. Answers 1 freed, 2 handed on (`next` queues),
-- flag+token K is held by `next`; and when K was not the owner's: 3 left the queue, 0 K is absent,
-- -1 K is another's.
local entry, heir, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
local owner, heir_owner = owner_of(entry), heir and owner_of(heir)

local value = call('GET', K)
if not held_by(value, owner) then
  local left = call('ZREM', Q, entry, owner)
  if heir and held_by(value, heir_owner) then
    -- Sent twice: the first one made `next` the holder.
    return confirm(value, ttl)
  end
  return left > 0 and 3 or value and -1 or 0
end

-- Without a fence or a queue nobody can be served, but K must not stay.
local fence = read_fence()
if not fence or type(redis.pcall('ZSCORE', Q, entry)) == 'table' then
  call('DEL', K)
  return 1
end

local head, gone = choose(heir_owner, owner)

-- The first write is one that a server out of memory allows; it then allows the others, too.
call('ZREM', Q, entry, owner, unpack(gone))

if head and owner_of(head) ~= heir_owner then
  if heir then
    enqueue(heir)
  end
  give(head, CLAIM_MS, fence, {})
  return 2
end
if heir then
  return give(heir, ttl, fence, {}):sub(23, 39)
end
call('DEL', K)
return 1
