-- Follows grant.lua and quorum_node.lua. KEYS M, ARGV boot, delay in ms, the name of a new count, the name of the count
-- that the client knows, and how long (ms) that has run, as clients have measured it. Begins the count of a node that
-- may have lost data, or continues it.
-- Answers { ms until the node votes, time (µs) }, and if it does not vote yet, the count and how long (ms) it has run.
local M, boot, delay = KEYS[1], ARGV[1], ARGV[2]
local marker = read_marker(M, boot, delay)
if marker.err then
  return marker
end
local count, waited = marker.count, marker.waited
if marker.left > 0 then
  if not count then
    count = ARGV[3]
  elseif count == ARGV[4] then
    waited = math.max(waited, tonumber(ARGV[5]))
  end
end
local left = left_of(delay, waited)
if marker.left > 0 and left > 0 then
  call('SET', M, string.format('%s %s %s %.0f', boot, delay, count, waited))
  return { left, now, count, waited }
end
if not marker.votes then
  call('SET', M, boot .. ' ' .. delay)
end
return { 0, now }
