-- Follows grant.lua. KEYS K F Q, ARGV owner [, time of its grant in µs, by this server's clock]. Gives the holder of K a
-- token, if it took K without one: the time of its grant. If another server has granted the lock since, and this one does
-- not know it, the token of that grant is higher. Idempotent, even if it is late: a holder has one token.
-- Answers flag+token, or nil if K is not the owner's. Without the time of the grant, a holder that has no token gets the
-- time now, and nothing is written.
local value = call('GET', K)
if not value
  or owner_of(value) ~= ARGV[1] -- control: owner_compare_on_mint
then
  return nil
end
if value:sub(24, 24) ~= '0' then
  return value:sub(23, 39)
end
if not ARGV[2] then
  return now
end
local fence, failure = read_fence()
if not fence then
  return failure
end
local granted_at = now
granted_at = ARGV[2] -- control: token_of_the_grant
-- First, so that a server out of memory refuses it before anything is written.
local token = new_token_of(granted_at, fence)
call('SETRANGE', K, '23', token)
return value:sub(23, 23) .. token
