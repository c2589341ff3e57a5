--- The token of an address: whether a target covers it, and which requests are made.
local problem = require('authbroker.problem')

local M = {}

-- Refusals that are about the address itself, or about the broker as a whole; an error without a code is this package's.
local FINAL = {
  unknownTarget = true, invalidParams = true, deadlineExceeded = true, vaultLocked = true, shuttingDown = true,
  cancelled = true,
}

--- Returns scheme, user name, host with its port, and path of an address, without a slash at its end.
local function parts(address)
  local scheme, rest = address:match('^([^:]*)://([^?#]*)')
  if not scheme then return '', '', '', '' end
  local authority, path = rest:match('^([^/]*)(.*)$')
  local user, host = authority:match('^(.*)@([^@]*)$')
  return scheme:lower(), (user or ''):match('^[^:]*'), (host or authority):lower(), (path:gsub('/+$', ''))
end

--- Whether an address lies at or below a prefix, as both are written: what is written otherwise does not.
function M.covers(prefix, address)
  local scheme, user, host, path = parts(prefix)
  local asked_scheme, asked_user, asked_host, asked_path = parts(address)
  local ending = host:sub(1, 2) == '*.' and host:sub(2)
  local is_below = ending and #asked_host > #ending and asked_host:sub(-#ending) == ending
  return scheme ~= '' and scheme == asked_scheme and (user == '' or user == asked_user)
    and (host == asked_host or is_below or false) and vim.startswith(asked_path .. '/', path .. '/')
end

--- Asks for the token of an address; returns an answer of `getAccessToken` and its target, or nil and an error.
--
-- A broker of version 0.2 ignores the address, and answers for the profile that is not named: an answer is used only
-- where it has a target that covers the address. Otherwise the target is asked for, and then its token.
--
-- @param call a function of method and params
function M.ask(call, url, params)
  local answer, failure = call('getAccessToken', vim.tbl_extend('force', params, { url = url }))
  if failure and (FINAL[failure.kind] or not failure.code) then return nil, failure end
  local target = answer and answer.target
  if type(target) == 'table' and type(target.prefix) == 'string' and M.covers(target.prefix, url) then
    return answer, nil, target
  end
  local list
  list, failure = call('listTargets', { url = url })
  if failure then return nil, failure end
  local entry = type(list.targets) == 'table' and list.targets[1]
  if not entry then
    return nil, problem.of_broker({ code = 1088, message = 'The configuration has no target for this address.',
      data = { kind = 'unknownTarget', nextAction = 'fixConfig' } })
  end
  answer, failure = call('getAccessToken', vim.tbl_extend('keep', params, {
    profile = entry.profile, scopes = entry.scopes, audience = entry.audience }))
  return answer, failure, { prefix = entry.url, username = entry.username, scheme = entry.scheme }
end

return M
