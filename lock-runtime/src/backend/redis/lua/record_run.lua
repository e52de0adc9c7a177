-- KEYS H of each lock, ARGV entries kept, then the fields and values of the entry. Adds an entry to the run history.
for _, H in ipairs(KEYS) do
  redis.call('XADD', H, 'MAXLEN', ARGV[1], '*', unpack(ARGV, 2))
  redis.call('PEXPIRE', H, 2592000000)
end
return 1
