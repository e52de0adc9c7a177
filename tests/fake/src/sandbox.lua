-- What scripts see: the parts of Lua that they use, none of which depends on an earlier run, and `redis`. `pcall` is absent:
-- servers have one of their own.
-- Takes the function that runs a command. Returns the environment of scripts, and the function that runs a script in it.
local run_command = ...
local error, pcall, setmetatable, tostring, type = error, pcall, setmetatable, tostring, type
local find = string.find

local function refuse_write()
  error('Attempt to modify a readonly table', 2)
end

-- Scripts share these tables, so no script may change them.
local function read_only(entries)
  return setmetatable({}, { __index = entries, __newindex = refuse_write })
end

local WRONG_ARGUMENT = 'ERR wrong number or type of arguments'

local redis = {
  call = function(...)
    local is_error, value = run_command(...)
    if is_error then
      error(value, 0)
    end
    return value
  end,
  pcall = function(...)
    local _, value = run_command(...)
    return value
  end,
  error_reply = function(text)
    if type(text) ~= 'string' then
      return { err = WRONG_ARGUMENT }
    end
    text = text:gsub('^%-', '')
    -- A single word is no code.
    return { err = find(text, ' ', 1, true) and text or 'ERR ' .. text }
  end,
  status_reply = function(text)
    if type(text) ~= 'string' then
      return { err = WRONG_ARGUMENT }
    end
    return { ok = text }
  end,
}

math.random, math.randomseed, string.dump = nil

local globals = setmetatable({
  assert = assert,
  error = error,
  ipairs = ipairs,
  next = next,
  pairs = pairs,
  select = select,
  tonumber = tonumber,
  tostring = tostring,
  type = type,
  unpack = unpack,
  math = read_only(math),
  redis = read_only(redis),
  string = read_only(string),
  table = read_only(table),
}, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
})

local function run(script, keys, arguments)
  globals.KEYS, globals.ARGV = keys, arguments
  return pcall(script)
end

return read_only(globals), run
