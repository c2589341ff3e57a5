-- The commands :AuthBrokerLogin [PROFILE], :AuthBrokerLogout [PROFILE] and :AuthBrokerStatus.
if vim.g.loaded_authbroker then return end
vim.g.loaded_authbroker = true

--- Shows a sentence, or an error.
local function show(sentence, failure)
  vim.notify('authbroker: ' .. (sentence or tostring(failure)), failure and vim.log.levels.ERROR or vim.log.levels.INFO)
end

--- The profile that a command was given; nil: the current one.
local function profile(command) return command.args ~= '' and command.args or nil end

vim.api.nvim_create_user_command('AuthBrokerLogin', function(command)
  local session, failure = require('authbroker').login({ profile = profile(command) })
  show(session and 'logged in to ' .. session.profile, failure)
end, { nargs = '?', desc = 'Log in to a profile of AuthBroker' })

vim.api.nvim_create_user_command('AuthBrokerLogout', function(command)
  local results, failure = require('authbroker').logout({ profile = profile(command) })
  show(results and 'signed out', failure)
end, { nargs = '?', desc = 'Sign out of a profile of AuthBroker' })

vim.api.nvim_create_user_command('AuthBrokerStatus', function()
  local result, failure = require('authbroker').call('listSessions')
  if not result then return show(nil, failure) end
  for _, session in ipairs(result.sessions) do show(session.profile .. ': ' .. session.state) end
end, { desc = 'Show the sessions of AuthBroker' })
