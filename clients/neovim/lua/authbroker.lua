--- Access tokens from AuthBroker, the daemon that keeps login sessions for the programs of a user.
--
--   local authbroker = require('authbroker')
--   local token, problem = authbroker.access_token()
--
-- Functions return a result, or nil and an error that prints as a sentence (`authbroker.problem`). They wait while
-- Neovim goes on handling its events; `call_async` does not wait. None may be called from a callback of vim.loop: wrap
-- that with vim.schedule. It needs Neovim 0.7 and the program authbroker.
local Connection = require('authbroker.connection')
local problem = require('authbroker.problem')
local current_profile = require('authbroker.profile')

local M = {}

--- What the function of `with_access_token` returns behind nil where a server rejected the token (HTTP status 401).
M.UNAUTHORIZED = setmetatable({}, { __tostring = function() return 'the server rejected the access token' end })

--- The settings, changed by `setup`: `command` is the program that finds or starts the broker and its first arguments
-- (by default what AUTHBROKER_COMMAND names, else the one on the PATH), `timeout_ms` how long a call may take unless it
-- says so itself.
M.settings = { command = { os.getenv('AUTHBROKER_COMMAND') or 'authbroker' }, timeout_ms = 60000 }

-- The methods that are called once more where the broker has ended before the answer: they change nothing that a
-- second call would change again.
local REPEATABLE = {
  initialize = true, ping = true, ['rpc.discover'] = true, getAccessToken = true, reportRejected = true,
  getIdToken = true, createProof = true, awaitLogin = true, listPendingLogins = true, getCurrentUser = true,
  getSession = true, listSessions = true, listTargets = true, getStatus = true, checkVault = true, lock = true,
  subscribe = true,
}

-- The connection, nil before the first call.
local current

--- Changes settings.
function M.setup(settings)
  M.settings = vim.tbl_extend('force', M.settings, settings or {})
  M.disconnect()
end

--- Ends the connection; the next call opens another one.
function M.disconnect()
  if current then current:close() end
  current = nil
end

--- Returns a connection that takes calls; or nil and an error.
local function connection()
  if current and current.running and not current.retired then return current end
  local failure
  current, failure = Connection.open({ command = M.settings.command })
  return current, failure
end

-- How long a broker that ends is waited for (it waits 25 s for requests that spend a token, and then saves), and the
-- pauses between two tries meanwhile, in milliseconds.
local LONGEST_END, FIRST_PAUSE, LONGEST_PAUSE = 30000, 100, 1000

local function now_ms() return vim.loop.hrtime() / 1e6 end

--- Returns a function that tells after which pause, in milliseconds, a call of a method that has failed is made once
-- more: a broker that is about to end is asked again until there is the next one, a lost connection is followed by one
-- more try; nil: it is not. `timeout_ms` is the time of all tries.
function M._repetition(method, timeout_ms)
  local latest = now_ms() + timeout_ms
  local was_lost, ends_at, pause = false, nil, FIRST_PAUSE
  return function(refusal)
    if not REPEATABLE[method] then return nil end
    if refusal.kind == 'shuttingDown' then
      ends_at = ends_at or math.min(now_ms() + LONGEST_END, latest)
      local length = pause
      pause = math.min(2 * pause, LONGEST_PAUSE)
      return now_ms() + length < ends_at and length or nil
    end
    -- A program that reaches a broker at its very end says that there is none.
    local is_lost = refusal.kind == 'connectionLost' or ends_at and refusal.kind == 'noBroker'
    if was_lost or not is_lost then return nil end
    was_lost = true
    return 0
  end
end

--- Calls a method, once more at the next broker where this one has ended and the method changes nothing.
--
-- @param callback called once with an error, or with nil and the result
-- @return a function that cancels the request
local function request(method, params, timeout_ms, callback)
  local tries, cancel = 0, function() end
  local pause_after = M._repetition(method, timeout_ms)
  local try
  local function try_later(pause)
    if pause == 0 then return try() end
    tries = tries + 1
    local timer = vim.loop.new_timer()
    cancel = function()
      if timer:is_closing() then return end
      timer:close()
      callback(problem.new('cancelled', 'the request was cancelled'))
    end
    timer:start(pause, 0, function()
      timer:close()
      try()
    end)
  end
  function try()
    tries = tries + 1
    local number = tries
    local open, failure = connection()
    if not open then return callback(failure) end
    local own = open:request(method, params, function(refusal, result)
      if not refusal then return callback(nil, result) end
      if refusal.kind == 'connectionLost' or refusal.kind == 'shuttingDown' then open:retire() end
      local pause = pause_after(refusal)
      if pause then return try_later(pause) end
      callback(refusal)
    end)
    if number == tries then cancel = own end
  end
  try()
  return function() cancel() end
end

--- Calls any method of the broker and waits for its result; Ctrl-C cancels the request.
--
-- @param params a table; nil for none. An empty object inside is vim.empty_dict().
-- @param options `timeout_ms`
-- @return the result, null as nil in objects; or nil and an error
function M.call(method, params, options)
  local timeout_ms = options and options.timeout_ms or M.settings.timeout_ms
  local done, refusal, result = false, nil, nil
  local cancel = request(method, params, timeout_ms, function(e, r) done, refusal, result = true, e, r end)
  local answered, why = vim.wait(timeout_ms, function() return done end, 50)
  if not answered then
    cancel()
    if why == -2 then return nil, problem.new('cancelled', 'the request was cancelled') end
    return nil, problem.timed_out()
  end
  if refusal then return nil, refusal end
  return result
end

--- Calls any method and returns at once.
--
-- @param callback called in the main loop with an error, or with nil and the result
-- @param options `timeout_ms`
-- @return a function that cancels the request: the callback then gets the error `cancelled`
function M.call_async(method, params, callback, options)
  local own_ms = type(params) == 'table' and params.timeoutSeconds and params.timeoutSeconds * 1000 + 5000 or 0
  local timer
  local function finish(refusal, result)
    if not timer then return end
    if not timer:is_closing() then timer:close() end
    timer = nil
    callback(refusal, result)
  end
  local cancel
  local timeout_ms = options and options.timeout_ms or math.max(M.settings.timeout_ms, own_ms)
  timer = vim.defer_fn(function()
    finish(problem.timed_out())
    cancel()
  end, timeout_ms)
  cancel = request(method, params, timeout_ms, vim.schedule_wrap(finish))
  return cancel
end

-- The tokens themselves, beside the tables, which may be printed.
local values = setmetatable({}, { __mode = 'k' })

local Token = {}
Token.__index = Token
Token.__tostring = function(token)
  return ('<redacted> token %s of %s, %s (%s)'):format(token.token_id, token.profile,
    token.expires_at and 'expires ' .. token.expires_at or 'without expiry', token.token_type)
end

--- Returns the text of the token.
function Token:reveal() return values[self] end

--- Returns the name of the header that carries the token: `Authorization`, unless the profile's provider is static and
-- names another.
function Token:header_name()
  local is_basic = self.target and self.target.scheme == 'Basic'
  return not is_basic and self.header or 'Authorization'
end

--- Returns the value of that header, as the target wants it.
function Token:authorization_header()
  local target = self.target
  if not target or target.scheme ~= 'Basic' then
    local is_alone = self:header_name():lower() ~= 'authorization' or self.header and self.token_type == ''
    return is_alone and values[self] or self.token_type .. ' ' .. values[self]
  end
  -- Servers that take a token as a password look at no user name, where the target has none.
  return 'Basic ' .. require('authbroker.base64')((target.username or 'oauth2') .. ':' .. values[self])
end

--- Returns the token for an answer of the broker: `token_type`, `header` (nil where a server issued it), `expires_at` (RFC 3339, nil where the provider does
-- not say), `scopes`, `profile`, `token_id`, `offline`, `target` (`prefix`, `username`, `scheme`; nil where no address was
-- named). Printing it does not show the token itself.
local function read_token(result, failure, target)
  if failure then return nil, failure end
  if type(result.accessToken) ~= 'string' or type(result.tokenType) ~= 'string' or type(result.tokenId) ~= 'string' then
    return nil, problem.new('unexpectedAnswer', "the broker's answer is not what was expected: no access token")
  end
  local token = setmetatable({
    token_type = result.tokenType, header = result.header, expires_at = result.expiresAt, scopes = result.scopes, profile = result.profile,
    token_id = result.tokenId, offline = result.offline == true, target = target,
  }, Token)
  values[token] = result.accessToken
  return token
end

--- Returns a valid access token, refreshed first where necessary.
--
-- @param options `profile`, or in its place `url`, the address of a server, whose target the configuration has;
-- `min_validity_seconds`, `scopes`, `audience`, `force_refresh`, `wait_for_login`, `timeout_seconds`; nil: the token of the
-- current profile
function M.access_token(options)
  options = options or {}
  local params = {
    minValiditySeconds = options.min_validity_seconds, scopes = options.scopes, audience = options.audience,
    forceRefresh = options.force_refresh, waitForLogin = options.wait_for_login,
    timeoutSeconds = options.timeout_seconds,
  }
  local limit = options.timeout_seconds and { timeout_ms = options.timeout_seconds * 1000 + 5000 }
  local function call(method, given) return M.call(method, next(given) and given or vim.empty_dict(), limit) end
  if not options.url then
    params.profile = current_profile(options.profile)
    return read_token(call('getAccessToken', params))
  end
  if options.profile then
    return nil, problem.new('invalidRequest', 'a token is asked for by a profile or by an address, not by both')
  end
  return read_token(require('authbroker.address').ask(call, options.url, params))
end

--- Reports that a server rejected a token, and returns the one to use instead.
--
-- @param options `status` (401, or 403), `challenge` (the header WWW-Authenticate, which may want more scopes), and `scopes`
-- and `audience` as in the request for the token
function M.report_rejected(token, options)
  options = options or {}
  local result, failure = M.call('reportRejected', {
    profile = token.profile, tokenId = token.token_id, status = options.status or 401, challenge = options.challenge,
    scopes = options.scopes, audience = options.audience,
  })
  return read_token(result, failure, token.target)
end

--- Calls a function with an access token and returns what it returns. Where that is nil and `UNAUTHORIZED`, the token
-- is reported as rejected and the function called once more with another one. A third value may be a table with `status`
-- and `challenge`.
--
-- @param options as of `access_token`; nil: none
function M.with_access_token(options, use)
  local token, failure = M.access_token(options)
  if not token then return nil, failure end
  local result, why, refusal = use(token)
  if result ~= nil or why ~= M.UNAUTHORIZED then return result, why end
  options, refusal = options or {}, refusal or {}
  local fresh
  fresh, failure = M.report_rejected(token, {
    status = refusal.status, challenge = refusal.challenge, scopes = options.scopes, audience = options.audience,
  })
  if not fresh then return nil, failure end
  if fresh.token_id == token.token_id then return nil, why end
  return use(fresh)
end

--- Returns where a profile stands; nil: the current one.
function M.session(profile) return M.call('getSession', { profile = current_profile(profile) }) end

--- Signs out.
--
-- @param options `profile`, `everywhere` (also the account's other sessions at the provider), `all` (every profile)
-- @return a list of `{profile, serverRevoked}`; or nil and an error
function M.logout(options)
  options = options or {}
  local result, failure = M.call('logout', {
    profile = options.all and options.profile or current_profile(options.profile),
    everywhere = options.everywhere or false, all = options.all or false,
  })
  return result and result.results, failure
end

-- The other functions are in files of their own, read when they are used.
local ELSEWHERE = {
  subscribe = 'authbroker.events', login = 'authbroker.login', begin_login = 'authbroker.login',
  verify_otp = 'authbroker.login', verify_backup_code = 'authbroker.login', resend_otp = 'authbroker.login',
}

return setmetatable(M, {
  __index = function(_, name) return ELSEWHERE[name] and require(ELSEWHERE[name])[name] end,
})
