-- Follows grant.lua. KEYS K F Q, ARGV owner. Gives the holder of K a token, if it took K without one. Idempotent, even
-- if it is late: a holder has one token.
-- Answers flag+token, or nil if K is not the owner's.
local value = call('GET', K)
if not value
  or owner_of(value) ~= ARGV[1] -- control: owner_compare_on_mint
then
  return nil
end
if value:sub(24, 24) ~= '0' then
  return value:sub(23, 39)
end
local fence, failure = read_fence()
if not fence then
  return failure
end
-- First, so that a server out of memory refuses it before anything is written.
local token = new_token(fence)
call('SETRANGE', K, '23', token)
return value:sub(23, 23) .. token
