-- Conversations through the Neovim package: JSON-RPC lines in, functions of the package, JSON-RPC lines out; see
-- ../README.md. Descriptor 3 is the input, descriptor 4 the output.
local authbroker = require('authbroker')
local uv = vim.loop
local subscriptions = {}

--- Writes a message as a line.
local function write(message)
  message.jsonrpc = '2.0'
  local line = vim.json.encode(message) .. '\n'
  while line ~= '' do line = line:sub(assert(uv.fs_write(4, line, -1)) + 1) end
end

--- A token as on the wire.
local function token_object(token, failure)
  if not token then return nil, failure end
  return { accessToken = token:reveal(), tokenType = token.token_type, expiresAt = token.expires_at or vim.NIL,
    scopes = token.scopes, profile = token.profile, tokenId = token.token_id, offline = token.offline or nil }
end

-- The typed functions: the params that each takes, and its call.
local typed = {
  getAccessToken = { 'profile minValiditySeconds scopes audience forceRefresh', function(p)
    return token_object(authbroker.access_token({ profile = p.profile, min_validity_seconds = p.minValiditySeconds,
      scopes = p.scopes, audience = p.audience, force_refresh = p.forceRefresh }))
  end },
  reportRejected = { 'profile tokenId status challenge', function(p)
    local rejected = { profile = p.profile, token_id = p.tokenId }
    return token_object(authbroker.report_rejected(rejected, { status = p.status, challenge = p.challenge }))
  end },
  login = { 'profile method email password phoneNumber clientContext', function(p)
    return authbroker.begin_login({ profile = p.profile, method = p.method, email = p.email, password = p.password,
      phone_number = p.phoneNumber, client_context = p.clientContext })
  end },
  verifyOtp = { 'otpFlowId code', function(p) return authbroker.verify_otp(p.otpFlowId, p.code) end },
  verifyBackupCode = { 'otpFlowId backupCode', function(p)
    return authbroker.verify_backup_code(p.otpFlowId, p.backupCode)
  end },
  resendOtp = { 'otpFlowId', function(p) return authbroker.resend_otp(p.otpFlowId) end },
  logout = { 'profile everywhere all', function(p)
    local results, failure = authbroker.logout(p)
    return results and { results = results }, failure
  end },
  getSession = { 'profile', function(p) return authbroker.session(p.profile) end },
}

--- Whether a function takes all of the params.
local function takes(names, params)
  for name in pairs(params) do
    if not vim.tbl_contains(vim.split(names, ' '), name) then return false end
  end
  return true
end

--- An error of the broker as on the wire.
local function error_object(failure)
  return { code = failure.code, message = failure.message, data = {
    kind = failure.kind, nextAction = failure.next_action, retryable = failure.retryable,
    retryAfterSeconds = failure.retry_after_seconds, profile = failure.profile, pointer = failure.pointer,
    fields = failure.fields, attemptsRemaining = failure.attempts_remaining, challenge = failure.challenge,
    correlationId = failure.correlation_id,
  } }
end

--- Opens a subscription; its answer comes before its events, which the main loop delivers.
local function subscribe(params)
  local early, subscription, failure = {}, nil, nil
  local function tell(event)
    write({ method = 'event', params = { subscriptionId = subscription.id, sequence = event.sequence,
      event = event.event, profile = event.profile, time = event.time, data = event.data } })
  end
  local answered = false
  subscription, failure = authbroker.subscribe(function(event)
    if answered then tell(event) else table.insert(early, event) end
  end, { events = params.events, profiles = params.profiles, since = params.since })
  if not subscription then return nil, failure end
  subscriptions[subscription.id] = subscription
  return { subscriptionId = subscription.id, sequence = subscription.snapshot.sequence,
    sessions = subscription.snapshot.sessions, resync = subscription.snapshot.resync }, nil, function()
    answered = true
    for _, event in ipairs(early) do tell(event) end
  end
end

--- Performs a request; returns the result, or nil and an error, and what comes behind the answer.
local function result_of(method, params)
  if method == 'subscribe' then return subscribe(params) end
  local open = method == 'unsubscribe' and subscriptions[params.subscriptionId]
  if open then
    open:close()
    subscriptions[params.subscriptionId] = nil
    return vim.empty_dict()
  end
  local known = typed[method]
  if known and takes(known[1], params) then return known[2](params) end
  return authbroker.call(method, params)
end

--- Answers the request of a line.
local function perform(line)
  local request = vim.json.decode(line, { luanil = { object = true } })
  local result, failure, behind = result_of(request.method, request.params or {})
  if failure and not failure.code then error(tostring(failure), 0) end
  write({ id = request.id, result = result, error = failure and error_object(failure) })
  if behind then behind() end
end

--- Performs requests to the end of the input.
local function main()
  local lines, rest, ended = {}, '', false
  local input = uv.new_pipe(false)
  input:open(3)
  input:read_start(function(_, text)
    if not text then ended = true return end
    rest = rest .. text
    for line in rest:gmatch('([^\n]*)\n') do table.insert(lines, line) end
    rest = rest:match('[^\n]*$')
  end)
  while not ended or #lines > 0 do
    vim.wait(1000, function() return ended or #lines > 0 end, 50)
    if #lines > 0 then perform(table.remove(lines, 1)) end
  end
  for _, subscription in pairs(subscriptions) do subscription:close() end
  authbroker.disconnect()
end

local ok, failure = pcall(main)
if not ok then
  io.stderr:write('shim: ', tostring(failure), '\n')
  vim.cmd('cquit 1')
end
vim.cmd('qall!')
