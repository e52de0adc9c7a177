-- Follows grant.lua and quorum_node.lua. KEYS M, ARGV boot, delay in ms. Marks a node as a client connects, so that the
-- votes of a new node count as soon as they may.
-- Answers { ms until votes count, time (µs) }.
local marker = read_marker(KEYS[1], ARGV[1], ARGV[2])
if marker.err then
  return marker
end
write_marker(KEYS[1], ARGV[1], ARGV[2], marker)
return { early(marker), now }
