--- The profile that is meant where a call names none.

-- The longest name has 64 characters.
local LONGEST = 256

local function absolute(name)
  local value = os.getenv(name)
  return value and value:sub(1, 1) == '/' and value or nil
end

local function of_file()
  local home = absolute('HOME')
  local base = absolute('XDG_CONFIG_HOME') or home and home .. '/.config'
  local path = base and base .. '/authbroker/profile'
  -- A FIFO must not block.
  local status = path and vim.loop.fs_stat(path)
  local file = status and status.type == 'file' and io.open(path, 'r')
  if not file then return nil end
  local line = (file:read(LONGEST) or ''):match('^[^\r\n]*')
  file:close()
  return line ~= '' and line or nil
end

--- Returns the given profile, else that of AUTHBROKER_PROFILE, else that of `authbroker profile use`; nil: the broker's.
return function(profile)
  local variable = os.getenv('AUTHBROKER_PROFILE')
  return profile or variable and variable ~= '' and variable or of_file()
end
