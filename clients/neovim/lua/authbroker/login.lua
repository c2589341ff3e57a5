--- Logging in with AuthBroker: the steps, and the dialogue for people and for programs that ask in their own way.
local authbroker = require('authbroker')
local problem = require('authbroker.problem')
local current_profile = require('authbroker.profile')

local M = {}

--- Begins a login; the result may be a challenge or an action (`status`).
--
-- @param credentials `profile`, `method`, `email`, `phone_number`, `password`, `refresh_token`, `scopes`,
-- `client_context`
function M.begin_login(credentials)
  return authbroker.call('login', {
    profile = current_profile(credentials.profile), method = credentials.method, email = credentials.email,
    phoneNumber = credentials.phone_number, password = credentials.password, scopes = credentials.scopes,
    refreshToken = credentials.refresh_token, clientContext = credentials.client_context,
  })
end

--- Answers a challenge with its one-time code; returns the result of the login.
function M.verify_otp(flow, code) return authbroker.call('verifyOtp', { otpFlowId = flow, code = code }) end

--- Answers a challenge with a backup code.
function M.verify_backup_code(flow, code)
  return authbroker.call('verifyBackupCode', { otpFlowId = flow, backupCode = code })
end

--- Has another code sent; returns the new challenge.
function M.resend_otp(flow) return authbroker.call('resendOtp', { otpFlowId = flow }) end

--- Shows a sentence, without characters that a terminal would obey.
local function tell(sentence)
  vim.api.nvim_echo({ { problem.plain(sentence) } }, true, {})
end

--- Asks at the command line without echo; nil where nothing was entered.
local function ask_secret(question)
  local ok, typed = pcall(vim.fn.inputsecret, question)
  vim.cmd('redraw')
  return ok and typed ~= '' and typed or nil
end

--- What asks the user, as functions; those of the argument `prompter` of `login` win. `account` gets `email` or
-- `phoneNumber`, `code` the challenge, `show` the user action, `tell` a sentence; nil as an answer ends the login.
local PROMPTER = {
  account = function(field)
    local ok, typed = pcall(vim.fn.input, field == 'phoneNumber' and 'Your phone number: ' or 'Your e-mail address: ')
    vim.cmd('redraw')
    return ok and typed ~= '' and typed or nil
  end,
  password = function() return ask_secret('Password: ') end,
  code = function(challenge)
    local totp = challenge.method == 'totp'
    return ask_secret((totp and '' or 'Sent a code to ' .. problem.plain(challenge.maskedDestination) .. '. ')
      .. (challenge.backupCodesAllowed and 'Code or backup code' or 'Code')
      .. (totp and ': ' or ' (r sends another): '))
  end,
  show = function(action)
    tell('open ' .. action.verificationUri .. (action.userCode and ' and enter the code ' .. action.userCode or ''))
  end,
  tell = tell,
}

--- The error of a login that the user has left.
local function left() return problem.new('cancelled', 'nothing was entered; the login was cancelled') end

--- Whether a typed code is a backup code beside one-time codes of a length.
local function is_backup_code(typed, length)
  local _, digits = typed:gsub('%d', '')
  return typed:find('%a') ~= nil or digits >= length + 2
end

--- Asks for what a login by password takes, unless the profile has a way that needs nothing.
local function complete(credentials, prompter)
  if credentials.refresh_token or credentials.method and credentials.method ~= 'password' then return true end
  local account = credentials.email or credentials.phone_number
  if account and credentials.password then return true end
  local session, failure = authbroker.session(credentials.profile)
  if not session then return nil, failure end
  -- No way at all: no login is needed, and the broker says what to do instead.
  if session.login and #session.login == 0 and not account and not credentials.method then return true end
  local field = 'email'
  for _, form in ipairs(session.login or {}) do
    if #form.fields == 0 and not account and not credentials.method then
      credentials.method = form.method
      return true
    end
    if form.method == 'password' and vim.tbl_contains(form.fields, 'phoneNumber') then field = 'phoneNumber' end
  end
  if not account then
    local typed = prompter.account(field)
    if not typed then return nil, left() end
    credentials[field == 'email' and 'email' or 'phone_number'] = typed
  end
  credentials.password = credentials.password or prompter.password()
  if not credentials.password then return nil, left() end
  return true
end

--- Has another code sent; where it cannot be now, says so: the last one stays good.
--
-- @return the challenge to go on with; or nil and an error
local function another(challenge, prompter)
  local fresh, failure = M.resend_otp(challenge.otpFlowId)
  if fresh then return fresh end
  if not failure.code or not (failure.retryable or failure.kind == 'unsupportedByProvider') then return nil, failure end
  prompter.tell(failure.message)
  return challenge
end

--- Asks for codes until one is right or the challenge has ended.
local function answer(challenge, prompter)
  while true do
    local typed = prompter.code(challenge)
    typed = typed and vim.trim(typed)
    if not typed or typed == '' then return nil, left() end
    local result, failure
    if typed == 'r' or typed == 'resend' then
      challenge, failure = another(challenge, prompter)
      if not challenge then return nil, failure end
    else
      local backup = challenge.backupCodesAllowed and is_backup_code(typed, challenge.otpLength)
      result, failure = (backup and M.verify_backup_code or M.verify_otp)(challenge.otpFlowId, typed)
      if result then
        if result.backupCodesRemaining then prompter.tell('backup codes left: ' .. result.backupCodesRemaining) end
        return result
      end
      if failure.kind ~= 'otpInvalid' and failure.kind ~= 'backupCodeInvalid' then return nil, failure end
      prompter.tell(failure.message)
    end
  end
end

--- Waits until the user has done what an action asks of them.
local function await(action)
  while true do
    local result, failure = authbroker.call('awaitLogin', { loginFlowId = action.loginFlowId, timeoutSeconds = 20 },
      { timeout_ms = 30000 })
    if result or failure.kind ~= 'deadlineExceeded' or failure.unanswered then return result, failure end
  end
end

--- Logs in, asking for what is missing, until there is a session. A login that is left is cancelled at the broker.
--
-- @param options the credentials, as of `begin_login`, and `prompter`; nil: the usual profile
-- @return the session; or nil and an error
function M.login(options)
  local credentials = vim.tbl_extend('force', {}, options or {})
  local prompter = vim.tbl_extend('force', PROMPTER, credentials.prompter or {})
  local ready, failure = complete(credentials, prompter)
  if not ready then return nil, failure end
  local result
  result, failure = M.begin_login(credentials)
  while result and result.status ~= 'authenticated' do
    local challenge, action = result.challenge, result.action
    if challenge then
      result, failure = answer(challenge, prompter)
    elseif action then
      prompter.show(action)
      result, failure = await(action)
    else
      return nil, problem.new('emailUnverified', 'the e-mail address must be verified first')
    end
    if not result then
      authbroker.call('cancelLogin', { otpFlowId = challenge and challenge.otpFlowId,
        loginFlowId = action and action.loginFlowId }, { timeout_ms = 5000 })
    end
  end
  return result and result.session, failure
end

return M
