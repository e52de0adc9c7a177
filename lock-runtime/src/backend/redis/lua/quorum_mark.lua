-- KEYS M, ARGV boot, delay in ms. Follows grant.lua and quorum_node.lua. Marks a node: a client sends this as it
-- connects, so that the votes of a new node count as soon as they may.
-- Answers { ms for which votes do not count, time (µs) }.
local till, failure = read_marker(KEYS[1], ARGV[1], ARGV[2], true)
if not till then
  return failure
end
return { early(till), now }
