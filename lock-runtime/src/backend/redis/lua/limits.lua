-- First in each script that names one of these.
local TURNS = 16            -- tokens that belong to one grant, for local turns
local MAX_CHECKED = '128'   -- waiters or shares; bounds the work of one script

