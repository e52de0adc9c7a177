-- First in each script that names one of these. Text for commands, since a server needs up to 0.4 µs to convert a number.
local TURNS = 16            -- tokens that belong to one grant, for local turns
local MAX_CHECKED = '128'   -- waiters or shares; bounds the work of one script

