//! All records of a server, read by a script that the fake runs as well.

/// The key, the type, the remaining time and the contents of each record, in an order that both servers have.
pub(super) const READ: &str = "
local all = {}
local names = redis.call('KEYS', '*')
table.sort(names)
for _, key in ipairs(names) do
  local kind = redis.call('TYPE', key).ok
  local value
  if kind == 'string' then
    value = redis.call('GET', key)
  elseif kind == 'zset' then
    value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'list' then
    value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'stream' then
    value = redis.call('XRANGE', key, '-', '+')
  else
    value = redis.call('HKEYS', key)
    table.sort(value)
    for n, field in ipairs(value) do
      value[n] = field .. '=' .. redis.call('HGET', key, field)
    end
  end
  all[#all + 1] = { key, kind, redis.call('PTTL', key), value }
end
return all";
