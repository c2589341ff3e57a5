--- What `:checkhealth authbroker` says.
local M = {}

-- Neovim 0.10 has them under shorter names.
local health = vim.health or require('health')
local start, ok = health.start or health.report_start, health.ok or health.report_ok
local warn, fail = health.warn or health.report_warn, health.error or health.report_error

-- How long the broker may take, in milliseconds: a minute is too long for a check to tell that it hangs.
local LIMIT = { timeout_ms = 10000 }

--- Judges the program, and returns its version.
local function version(command)
  if vim.fn.executable(command[1]) == 0 then
    return fail('there is no program ' .. command[1],
      { 'Install AuthBroker, or name the program: :help authbroker-settings' })
  end
  local said = vim.trim(vim.fn.system({ command[1], '--version' }))
  if vim.v.shell_error ~= 0 then return fail(command[1] .. ' --version ended with ' .. vim.v.shell_error) end
  ok(vim.fn.exepath(command[1]) .. ': ' .. said)
  return said
end

--- Judges the sessions of a status.
local function sessions(profiles)
  for _, session in ipairs(profiles) do
    local sentence = ('%s: %s'):format(session.profile, session.state)
    if session.state == 'authenticated' or session.state == 'refreshing' then
      ok(sentence)
    elseif session.state == 'offline' then
      warn(sentence, { 'see why its provider cannot be reached with: authbroker provider-check ' .. session.profile })
    else
      warn(sentence, { 'log in with: :AuthBrokerLogin ' .. session.profile })
    end
  end
end

--- Checks the program, the broker and the sessions.
function M.check()
  local authbroker = require('authbroker')
  start('authbroker')
  local said = version(authbroker.settings.command)
  if not said then return end
  local status, failure = authbroker.call('getStatus', nil, LIMIT)
  if not status then
    return fail(tostring(failure), { 'See what is wrong with: authbroker doctor' })
  end
  local running = status.version or ''
  if said:find(running, 1, true) then
    ok(('the broker answers (pid %d)'):format(status.pid))
  else
    warn('the broker is of version ' .. running, { 'change over with: authbroker stop' })
  end
  if status.vault and status.vault.locked then
    return warn('the vault is locked', { 'open it with: authbroker unlock' })
  end
  sessions(status.profiles or {})
end

return M
