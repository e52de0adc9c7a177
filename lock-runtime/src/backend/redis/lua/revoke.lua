-- Follows grant.lua and share.lua. KEYS K F Q R, ARGV the token that an operator saw (0 if there was none),
-- the first bytes of the record of another program and its length (for an owner without a token its id and -2, for a
-- token -1), and a notice for the holder.
-- Takes K from its holder, or from all that share it, and hands it off to the queue. K must have the token that the
-- operator saw, or the token of one of its turns. Another program's record is compared as a whole.
-- Answers 1 freed, 2 granted to waiters. Otherwise nothing is written: 0 K is absent, -1 another owner has K.
local TOKEN = '%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d'
local OWNER = '^[%w_-]+$'
local seen, record, length, notice = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
if not value then
  return 0
end
local owner = owner_of(value)
local digits = owner:match(OWNER) and value:match('^[ +](' .. TOKEN .. ') ', 23)
local number = tonumber(digits or nil)
local token = number and number >= FIRST_TOKEN and number
local is_seen
if length == -2 then
  is_seen = number and owner == record
elseif token then
  is_seen = seen >= token and seen < token + TURNS
else
  is_seen = #value == length and value:sub(1, #record) == record
end
is_seen = is_seen or false
if not is_seen then return -1 end -- control: token_of_a_revocation

local fence, failure = read_fence()
if not fence then
  return failure
end
-- If Q or R has another type, this fails before anything is written.
local members = call('ZCARD', Q)
call('ZCARD', R)
-- The next token is above the holder's, even if F was lost.
local last = math.max(fence, token or 0)
if last >= 2 ^ 53 - 32 then
  return redis.error_reply('LOCKFENCE the token is not below 2^53 - 32')
end

local told = {}
if phase and taken then
  told = call('ZRANGEBYSCORE', R, string.format('(%.0f', now), '+inf', 'LIMIT', '0', MAX_CHECKED)
elseif number and not phase then
  told = { owner }
end
local choice = new_choice()
if members > 0 then
  choose_shares(choice, MAX_UNCONFIRMED, nil, number and owner)
end

-- A server out of memory allows the first write. It then allows the rest of the script.
call('PEXPIRE', K, CLAIM_MS)
-- Without members Q is gone: a script names no key that it may have removed.
local remaining = members > 0 and remove_waiters(choice.removed) or 0
if choice.head then
  call('DEL', R)
  grant(choice.head, CLAIM_MS, new_token(last), remaining)
elseif #choice.shares > 0 then
  begin_phase(choice, new_token(last), remaining)
else
  if last > fence then
    call('SET', F, string.format('%016.0f', last), 'PXAT', math.floor(last / 1000) + FENCE_MS)
  end
  call('DEL', K, R)
end
-- No owner contains `!`, so clients that know no revocations ignore the message. They learn of the loss at their next
-- renewal, like holders that the message does not reach.
for _, member in ipairs(told) do
  redis.pcall('PUBLISH', 'lock:' .. member:sub(1, 8), '!' .. owner_of(member) .. notice .. K)
end
return (choice.head or #choice.shares > 0) and 2 or 1
