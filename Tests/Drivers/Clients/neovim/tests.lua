-- Tests of the Neovim package, run by `test`: each has a home and a broker of its own. The programs are those of the
-- PATH; $CLIENT is the folder of the package, $FAKE_BROKER the program of that name. One file, long as it is: all tests
-- stand on the helpers at its beginning.
local authbroker = require('authbroker')
local Connection = require('authbroker.connection')
local uv = vim.loop

local PASSWORD = 'made-up password 1'
-- How long a test waits for what must come, in milliseconds.
local PATIENCE = 60000
-- Codes live for long, and the next one comes at once.
local SLOW_CODES = '{profiles: {default: {provider: "local"}}, '
  .. 'local: {otp: {lifetimeSeconds: 3600, resendCooldownSeconds: 0}}}'
local home
local tests = {}

--- Waits for a condition and returns its value.
local function await(condition)
  local value
  if not vim.wait(PATIENCE, function() value = condition() return value end, 10) then
    error('what is waited for does not come', 2)
  end
  return value
end

--- Fails unless two values are equal.
local function equal(one, other)
  if not vim.deep_equal(one, other) then error(vim.inspect(one) .. ' is not ' .. vim.inspect(other), 2) end
end

--- Fails unless a call gave nil and an error of a kind; returns the error.
local function kind(wanted, result, failure)
  if result ~= nil or not failure or failure.kind ~= wanted then
    error(('wanted %s, got %s and %s'):format(wanted, vim.inspect(result), vim.inspect(failure)), 2)
  end
  assert(tostring(failure) == failure.message)
  return failure
end

--- Runs a program; fails unless it ends with 0.
local function run(...)
  local said = vim.fn.system({ ... })
  if vim.v.shell_error ~= 0 then error(table.concat({ ... }, ' ') .. ': ' .. said, 2) end
  return said
end

--- Registers an account.
local function register(more)
  return assert(authbroker.call('register',
    vim.tbl_extend('force', { email = 'ada@example.com', password = PASSWORD }, more or {})))
end

--- Kills the broker.
local function kill()
  local pid = assert(authbroker.call('getStatus')).pid
  assert(uv.kill(pid, 'sigkill'))
  await(function() return not uv.fs_stat('/proc/' .. pid) end)
end

--- Returns the code of the newest message of the embedded provider.
local function code()
  local files = vim.fn.glob(home .. '/state/local-provider/outbox/*.json', false, true)
  return assert(vim.json.decode(table.concat(vim.fn.readfile(files[#files]), '\n')).code)
end

--- Forces a refresh and returns the id of the new token.
local function refresh() return assert(authbroker.access_token({ force_refresh = true })).token_id end

function tests.token()
  kind('loginRequired', authbroker.access_token())
  register()
  local token = assert(authbroker.access_token({ min_validity_seconds = 1 }))
  local text = token:reveal()
  assert(#text > 20 and token:authorization_header() == 'Bearer ' .. text and token.profile == 'default')
  assert(token.expires_at:match('^20.*Z$'))
  for _, shown in ipairs({ tostring(token), vim.inspect(token), vim.inspect({ token, getmetatable(token) }) }) do
    assert(not shown:find(text, 1, true), 'the token shows')
  end
  assert(refresh() ~= token.token_id)
end

function tests.the_current_profile()
  vim.fn.mkdir(home .. '/chosen/authbroker', 'p')
  vim.fn.writefile({ 'of-the-file' }, home .. '/chosen/authbroker/profile')
  local base = os.getenv('XDG_CONFIG_HOME')
  vim.env.XDG_CONFIG_HOME = home .. '/chosen'
  for _, variable in ipairs({ '', 'of-the-variable' }) do
    vim.env.AUTHBROKER_PROFILE = variable
    local name = variable ~= '' and variable or 'of-the-file'
    equal(kind('unknownProfile', authbroker.access_token()).profile, name)
    equal(kind('unknownProfile', authbroker.session()).profile, name)
    equal(kind('unknownProfile', authbroker.logout()).profile, name)
    equal(assert(authbroker.session('default')).profile, 'default')
  end
  vim.env.AUTHBROKER_PROFILE, vim.env.XDG_CONFIG_HOME = nil, base
end

function tests.healing()
  register()
  local seen
  local function use(rejections)
    seen = {}
    return function(token)
      table.insert(seen, token.token_id)
      if #seen <= rejections then return nil, authbroker.UNAUTHORIZED end
      return 'done'
    end
  end
  equal(authbroker.with_access_token(nil, use(1)), 'done')
  assert(#seen == 2 and seen[1] ~= seen[2])
  local result, why = authbroker.with_access_token(nil, use(2))
  assert(result == nil and why == authbroker.UNAUTHORIZED and #seen == 2)
  equal(authbroker.with_access_token({ profile = 'default' }, use(0)), 'done')
  equal(#seen, 1)
end

function tests.a_hundred_calls()
  register()
  local answers, failures = 0, {}
  -- The broker takes 64 requests of a connection at a time.
  for round = 1, 2 do
    for _ = 1, 50 do
      authbroker.call_async('getAccessToken', nil, function(failure)
        answers = answers + 1
        table.insert(failures, failure)
      end)
    end
    await(function() return answers == round * 50 end)
  end
  equal(failures, {})
end

function tests.the_broker_that_follows()
  register()
  local before = assert(authbroker.access_token()).token_id
  kill()
  equal(assert(authbroker.access_token()).token_id, before)
  run('authbroker', 'stop')
  equal(assert(authbroker.access_token()).token_id, before)
end

function tests.events_go_on_behind_a_kill()
  register()
  local events = {}
  local subscription = assert(authbroker.subscribe(function(event) table.insert(events, event) end,
    { events = { 'tokenRefreshed' } }))
  equal(subscription.snapshot.sessions[1].state, 'authenticated')
  local ids = { refresh() }
  await(function() return #events == 1 end)
  kill()
  table.insert(ids, refresh())
  table.insert(ids, refresh())
  await(function() return #events >= 3 end)
  equal(vim.tbl_map(function(event) return event.data.tokenId end, events), ids)
  assert(events[1].sequence < events[2].sequence and events[2].sequence < events[3].sequence)
  subscription:close()
  await(function() return assert(authbroker.call('getStatus')).subscriptions == 0 end)
end

function tests.events_wait_for_a_broker_that_was_stopped()
  register()
  local events = {}
  local subscription = assert(authbroker.subscribe(function(event) table.insert(events, event) end,
    { events = { 'tokenRefreshed' } }))
  run('authbroker', 'stop')
  -- Until it has looked for a broker, and found none, twice.
  await(function() return subscription.pause >= 400 end)
  vim.fn.system({ 'authbroker', 'sockpath', '--no-start' })
  assert(vim.v.shell_error ~= 0, 'a broker was started')
  equal(events, {})
  -- Sequences that the next broker does not know.
  subscription.last = 2 ^ 40
  assert(authbroker.access_token())
  await(function() return #events == 1 end)
  equal(events[1].event, 'resync')
  equal(events[1].sessions[1].state, 'authenticated')
  refresh()
  await(function() return #events == 2 end)
  equal(events[2].event, 'tokenRefreshed')
  subscription:close()
end

function tests.time_and_cancellation()
  assert(authbroker.call('ping'))
  local params = { waitForLogin = true, timeoutSeconds = 600 }
  kind('deadlineExceeded', authbroker.call('getAccessToken', params, { timeout_ms = 200 }))
  local failure
  local cancel = authbroker.call_async('getAccessToken', params, function(problem) failure = problem end)
  cancel()
  await(function() return failure end)
  equal(failure.kind, 'cancelled')
  local status = assert(authbroker.call('getStatus'))
  equal(status.connections, 1)
end

function tests.no_broker()
  authbroker.setup({ command = { '/nonexistent/authbroker' } })
  kind('noBroker', authbroker.access_token())
  authbroker.setup({ command = { 'authbroker' } })
  vim.env.AUTHBROKER_SOCKET = home .. '/none'
  assert(tostring(kind('noBroker', authbroker.access_token())):find('no broker listens', 1, true))
  kind('noBroker', authbroker.subscribe(function() end))
  vim.env.AUTHBROKER_SOCKET = nil
  authbroker.disconnect()
end

function tests.a_false_broker()
  for _, reply in ipairs({ 'no JSON eyJ-made-up', '{"jsonrpc":"2.0","result":{"accessToken":"eyJ-made-up"}}',
    '{"jsonrpc":"2.0","id":1,"result":{"tokenId":"eyJ-made-up"}}', '{"jsonrpc":"2.0","id":1}', '[1,"eyJ-made-up"]',
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"No.","data":"eyJ-made-up"}}' }) do
    authbroker.setup({ command = { 'sh', '-c', 'read -r _; printf "%s\\n" "$0"; while read -r _; do :; done', reply } })
    local failure = kind('unexpectedAnswer', authbroker.access_token())
    assert(not tostring(failure):find('eyJ', 1, true))
  end
  authbroker.setup({ command = { 'authbroker' } })
end

-- Called one after the other; those that change something come last.
local METHODS = { 'getCurrentUser', 'checkVault', 'lock', 'getAccessToken', 'login', 'logout' }

--- Runs a function with a fake broker (../fake-broker) in a mode; returns how often each method was requested.
local function with_fake_broker(mode, body, ...)
  local log, said = home .. '/log-' .. mode, ''
  vim.env.AUTHBROKER_SOCKET = home .. '/s-' .. mode
  local job = vim.fn.jobstart({ vim.env.FAKE_BROKER, vim.env.AUTHBROKER_SOCKET, log, mode, ... },
    { on_stdout = function(_, lines) said = said .. table.concat(lines) end })
  await(function() return said == 'ready' end)
  authbroker.disconnect()
  local ok, failure = pcall(body, log)
  authbroker.disconnect()
  vim.env.AUTHBROKER_SOCKET = nil
  vim.fn.chanclose(job, 'stdin')
  vim.fn.jobwait({ job })
  assert(ok, failure)
  local requested = vim.fn.filereadable(log) == 1 and vim.fn.readfile(log) or {}
  return function(method) return #vim.tbl_filter(function(line) return line == method end, requested) end
end

--- The cases that all packages share.
local function shared_cases()
  local text = table.concat(vim.fn.readfile(vim.env.CLIENT .. '/../../Schemas/addresses.json'), '\n')
  return vim.json.decode(text, { luanil = { object = true } })
end

function tests.which_prefix_covers_an_address()
  local covers = require('authbroker.address').covers
  for _, case in ipairs(shared_cases().coverage) do
    assert(covers(case.prefix, case.address) == case.covers, case.prefix .. ' ' .. case.address)
  end
end

function tests.the_token_of_an_address()
  for index, case in ipairs(shared_cases().questions) do
    vim.fn.delete(home .. '/log-question')
    with_fake_broker('question', function(log)
      local token, failure = authbroker.access_token({ url = case.url })
      equal(vim.fn.readfile(log), vim.tbl_map(function(one) return one.method end, case.exchanges))
      if case.error then return kind(case.error, token, failure) end
      assert(token, failure)
      equal({ token:reveal(), token.profile, token.target, token:header_name(), token:authorization_header() },
        { case.token, case.profile, case.target, case.header or 'Authorization', case.authorization })
    end, vim.env.CLIENT .. '/../../Schemas/addresses.json', tostring(index - 1))
  end
  kind('invalidRequest', authbroker.access_token({ url = 'https://a.example', profile = 'work' }))
end

function tests.base64_has_its_filling()
  local own = vim.base64
  vim.base64, package.loaded['authbroker.base64'] = nil, nil
  local encode = require('authbroker.base64')
  vim.base64, package.loaded['authbroker.base64'] = own, nil
  -- RFC 4648, section 10.
  equal(vim.tbl_map(encode, { '', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar', '\255\254' }),
    { '', 'Zg==', 'Zm8=', 'Zm9v', 'Zm9vYg==', 'Zm9vYmE=', 'Zm9vYmFy', '//4=' })
end

function tests.events_without_a_subscription_do_not_outlast_a_time_limit()
  local before = vim.loop.resident_set_memory()
  with_fake_broker('flooding', function()
    kind('deadlineExceeded', authbroker.call('getAccessToken', nil, { timeout_ms = 1500 }))
    local failure
    authbroker.call_async('getStatus', nil, function(problem) failure = problem end, { timeout_ms = 300 })
    await(function() return failure end)
    equal(failure.kind, 'deadlineExceeded')
    local timeout_ms = authbroker.settings.timeout_ms
    authbroker.setup({ timeout_ms = 300 })
    kind('deadlineExceeded', authbroker.subscribe(function() error('an event came') end))
    authbroker.setup({ timeout_ms = timeout_ms })
  end)
  collectgarbage()
  assert(vim.loop.resident_set_memory() - before < 128 * 1024 * 1024)
end

--- Calls every method once, behind a ping over the same connection; checks what becomes of those that change something.
local function check_repetition(mode, kind_of_loss, number)
  local times = with_fake_broker(mode, function()
    for index, method in ipairs(METHODS) do
      assert(authbroker.call('ping'))
      if index <= 4 then assert(authbroker.call(method)) else kind(kind_of_loss, authbroker.call(method)) end
    end
  end)
  equal(vim.tbl_map(times, METHODS), { number, number, number, number, 1, 1 })
end

function tests.lost_requests_are_repeated_once_where_they_change_nothing() check_repetition('lost', 'connectionLost', 2) end

function tests.a_broker_that_does_not_end_is_waited_for_within_bounds()
  with_fake_broker('staying', function(log)
    kind('shuttingDown', authbroker.call('getStatus', nil, { timeout_ms = 1000 }))
    local failure
    local cancel = authbroker.call_async('lock', nil, function(refusal) failure = refusal end)
    await(function() return #vim.tbl_filter(function(word) return word == 'lock' end, vim.fn.readfile(log)) > 1 end)
    cancel()
    await(function() return failure end)
    equal(failure.kind, 'cancelled')
  end)
end

function tests.what_the_broker_says_is_fit_for_a_terminal()
  local said = require('authbroker.problem').of_broker({ message = 'a\27b\194\155c\226\128\174d\226\128\139e\226\128\168f \195\169' })
  equal(tostring(said), 'a?b?c?d?e?f \195\169')
end

function tests.a_subscription_begins_at_the_next_broker()
  with_fake_broker('ending', function()
    local subscription = assert(authbroker.subscribe(function() end))
    subscription:close()
  end)
end

function tests.a_broker_that_ends_is_followed_by_the_next()
  check_repetition('ending', 'shuttingDown', 4)
  -- Without waiting, while another call is under way over the connection that ends.
  local failures, slow = {}, nil
  with_fake_broker('ending', function(log)
    authbroker.call_async('slow', nil, function(failure, result) slow = result or failure end)
    await(function() return vim.fn.filereadable(log) == 1 and #vim.fn.readfile(log) > 0 end)
    local done
    authbroker.call_async('getStatus', nil, function(failure) done = true table.insert(failures, failure) end)
    await(function() return done and slow end)
  end)
  equal(failures, {})
  equal(slow.tokenId, 'id1')
end

function tests.a_token_that_is_not_replaced_is_not_tried_again()
  local calls = 0
  local times = with_fake_broker('lasting', function()
    local result, why = authbroker.with_access_token(nil, function()
      calls = calls + 1
      return nil, authbroker.UNAUTHORIZED, { status = 403, challenge = 'Bearer scope="a"' }
    end)
    assert(result == nil and why == authbroker.UNAUTHORIZED)
  end)
  equal({ calls, times('reportRejected'), times('403 Bearer scope="a"') }, { 1, 1, 1 })
end

function tests.an_error_says_what_a_login_must_ask_for()
  local data = { kind = 'reauthRequired', scopes = { 'a' }, acrValues = { 'b' }, maxAge = 5 }
  local failure = require('authbroker.problem').of_broker({ code = 1005, message = 'm', data = data })
  equal({ failure.scopes, failure.acr_values, failure.max_age }, { { 'a' }, { 'b' }, 5 })
end

function tests.a_locked_vault()
  register()
  assert(authbroker.call('lock'))
  equal(vim.fn.glob(home .. '/state/proof-*'), '')
  equal(kind('vaultLocked', authbroker.access_token()).next_action, 'unlock')
  assert(authbroker.call('unlock'))
  assert(authbroker.access_token())
end

function tests.a_relay_gets_no_proof()
  register()
  local before = vim.fn.readdir(home .. '/state')
  with_fake_broker('relay', function()
    for _, method in ipairs({ 'getAccessToken', 'lock', 'rekey', 'listLocalUsers', 'logout', 'prove' }) do
      local failure = kind('accessDenied', authbroker.call(method, method == 'logout' and { all = true } or nil))
      if method ~= 'getAccessToken' and method ~= 'prove' then
        assert(tostring(failure):find('nothing was created', 1, true), tostring(failure))
      end
    end
  end, home .. '/state/run/broker.sock')
  equal(vim.fn.readdir(home .. '/state'), before)
  assert(authbroker.access_token())
end

function tests.what_a_proof_is_given_for()
  local function provable(refusal, method, params)
    return Connection.is_provable({ kind = refusal, data = { proof = {} } }, method, params)
  end
  assert(provable('accessDenied', 'lock') and provable('accessDenied', 'listLocalUsers'))
  assert(provable('accessDenied', 'logout', { all = true }) and provable('reauthRequired', 'login'))
  assert(not provable('accessDenied', 'logout', { all = false }) and not provable('accessDenied', 'getAccessToken'))
  assert(not provable('reauthRequired', 'getAccessToken') and not provable('loginRequired', 'lock'))
  assert(not Connection.is_provable({ kind = 'accessDenied', data = {} }, 'lock'))
end

--- Registers an account whose logins want a code, signs out, and returns its backup codes.
local function with_phone()
  local result = register({ phoneNumber = '+15550100042' })
  assert(authbroker.verify_otp(result.challenge.otpFlowId, code()))
  local codes = assert(authbroker.call('generateBackupCodes', { password = PASSWORD })).backupCodes
  assert(authbroker.logout())
  return codes
end

--- Runs a function while the questions of Neovim are answered from lists.
local function answering(inputs, secrets, body)
  local asked, input, inputsecret, echo = {}, vim.fn.input, vim.fn.inputsecret, vim.api.nvim_echo
  local function from(answers)
    return function(question)
      table.insert(asked, question)
      local answer = table.remove(answers, 1)
      return type(answer) == 'function' and answer() or assert(answer, 'asked too often: ' .. question)
    end
  end
  vim.fn.input, vim.fn.inputsecret = from(inputs), from(secrets)
  vim.api.nvim_echo = function(chunks) table.insert(asked, chunks[1][1]) end
  local ok, failure = pcall(body)
  vim.fn.input, vim.fn.inputsecret, vim.api.nvim_echo = input, inputsecret, echo
  assert(ok, failure)
  equal({ #inputs, #secrets }, { 0, 0 })
  return asked
end

function tests.login()
  local backup = with_phone()[1]
  local function wrong() return ((code():sub(1, 1) + 1) % 10) .. code():sub(2) end
  local asked = answering({ 'ada@example.com' }, { PASSWORD, wrong, 'r', function() return code() end }, function()
    equal(assert(authbroker.login()).state, 'authenticated')
  end)
  equal({ asked[1], asked[2] }, { 'Your e-mail address: ', 'Password: ' })
  assert(asked[3]:match('^Sent a code to .*Code or backup code %(r sends another%): $'))
  assert(asked[4]:find('wrong', 1, true))
  assert(not table.concat(asked):find(PASSWORD, 1, true))
  assert(authbroker.logout())
  asked = answering({}, { PASSWORD, backup }, function()
    assert(authbroker.login({ email = 'ada@example.com' }))
  end)
  equal(asked[#asked], 'backup codes left: 9')
end

function tests.a_login_that_is_left()
  with_phone()
  kind('cancelled', authbroker.login({ email = 'ada@example.com', password = PASSWORD,
    prompter = { code = function() return nil end } }))
  equal(assert(authbroker.session()).state, 'signedOut')
  local failure = kind('invalidCredentials',
    authbroker.begin_login({ email = 'ada@example.com', password = 'wrong password 1' }))
  assert(not vim.inspect(failure):find('wrong password', 1, true))
end

function tests.commands()
  register()
  vim.cmd('runtime plugin/authbroker.lua')
  local notify, told = vim.notify, {}
  vim.notify = function(text) table.insert(told, text) end
  vim.cmd('AuthBrokerStatus')
  vim.cmd('AuthBrokerLogout')
  answering({ 'ada@example.com' }, { PASSWORD }, function() vim.cmd('AuthBrokerLogin') end)
  vim.notify = notify
  equal(told, { 'authbroker: default: authenticated', 'authbroker: signed out', 'authbroker: logged in to default' })
end

--- Returns what `:checkhealth authbroker` says.
local function health()
  vim.cmd('checkhealth authbroker')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd('bwipeout!')
  return text
end

function tests.health()
  register()
  local good = health()
  for _, sentence in ipairs({ 'the broker answers %(pid %d+%)', 'default: authenticated', 'authbroker: authbroker ' }) do
    assert(good:find(sentence), good)
  end
  assert(not good:find('WARNING') and not good:find('ERROR'), good)
  assert(authbroker.logout())
  local out = health()
  assert(out:find('default: signedOut') and out:find('log in with: :AuthBrokerLogin default', 1, true), out)
  vim.env.AUTHBROKER_SOCKET = home .. '/nothing.sock'
  authbroker.disconnect()
  local none = health()
  vim.env.AUTHBROKER_SOCKET = nil
  assert(none:find('no broker') and none:find('authbroker doctor', 1, true), none)
  authbroker.setup({ command = { home .. '/nothing' } })
  local missing = health()
  authbroker.setup({ command = { 'authbroker' } })
  assert(missing:find('there is no program'), missing)
end

function tests.help()
  -- The tags are those of the text.
  local copy = home .. '/doc'
  assert(vim.fn.mkdir(copy))
  vim.fn.writefile(vim.fn.readfile(vim.env.CLIENT .. '/doc/authbroker.txt'), copy .. '/authbroker.txt')
  vim.cmd('helptags ' .. copy)
  equal(vim.fn.readfile(copy .. '/tags'), vim.fn.readfile(vim.env.CLIENT .. '/doc/tags'))
  local text = table.concat(vim.fn.readfile(copy .. '/authbroker.txt'), '\n')
  for name in pairs(authbroker) do
    if type(authbroker[name]) == 'function' and not name:match('^_') and name ~= 'disconnect' then
      assert(text:find('*authbroker.' .. name .. '()*', 1, true), name)
    end
  end
  for _, subject in ipairs({ 'authbroker', ':AuthBrokerLogin', 'authbroker-tokens', 'authbroker.subscribe()' }) do
    vim.cmd('help ' .. subject)
    assert(vim.api.nvim_buf_get_name(0):find('authbroker.txt', 1, true), subject)
    vim.cmd('bwipeout!')
  end
end

function tests.readme()
  register()
  local text = table.concat(vim.fn.readfile(vim.env.CLIENT .. '/README.md'), '\n')
  local headers, events, examples = {}, {}, 0
  local notify = vim.notify
  vim.notify = function(name) table.insert(events, name) end
  -- The example asks an API that rejects the first token.
  local environment = setmetatable({
    use = function(header) table.insert(headers, header) end,
    request = function(header) table.insert(headers, header) return #headers == 2 and 401 or 200 end,
  }, { __index = _G })
  local subscription
  for block in text:gmatch('```lua\n(.-)```') do
    examples = examples + 1
    block = block:gsub('/usr/local/share/authbroker/clients/neovim', vim.env.CLIENT)
    subscription = setfenv(assert(loadstring(block .. '\nreturn subscription')), environment)() or subscription
  end
  equal(examples, 4)
  equal(#headers, 3)
  assert(headers[1] == headers[2] and headers[2] ~= headers[3])
  refresh()
  await(function() return vim.tbl_contains(events, 'tokenRefreshed') end)
  vim.notify = notify
  subscription:close()
end

--- Runs a test in a home of its own; returns whether it passed.
local function passes(name, test)
  home = vim.fn.trim(run('mktemp', '-d', '/tmp/ablua.XXXXXX'))
  for _, variable in ipairs({ 'AUTHBROKER_SOCKET', 'AUTHBROKER_CONFIG', 'XDG_RUNTIME_DIR', 'XDG_STATE_HOME' }) do
    vim.env[variable] = nil
  end
  vim.env.HOME, vim.env.AUTHBROKER_STATE, vim.env.AUTHBROKER_CONFIG = home, home .. '/state', home .. '/config.json'
  vim.fn.writefile({ name:find('login') and SLOW_CODES or '{}' }, home .. '/config.json')
  uv.fs_chmod(home .. '/config.json', 384)
  local ok, failure = xpcall(test, debug.traceback)
  authbroker.disconnect()
  run('authbroker', 'stop')
  vim.fn.delete(home, 'rf')
  io.stderr:write(ok and 'passed ' or 'FAILED ', name, ok and '' or ': ' .. failure, '\n')
  return ok
end

--- Prints how long a token takes over a connection that is kept.
function _G.benchmark()
  passes('benchmark', function()
    register()
    assert(authbroker.access_token())
    local start = uv.hrtime()
    for _ = 1, 1000 do assert(authbroker.access_token()) end
    io.stderr:write(('%.0f us\n'):format((uv.hrtime() - start) / 1e6))
  end)
end

--- Runs every test; returns whether all have passed.
local function all_pass()
  local failed = 0
  local names = vim.tbl_keys(tests)
  table.sort(names)
  for _, name in ipairs(names) do
    if not passes(name, tests[name]) then failed = failed + 1 end
  end
  return failed == 0
end

-- Whatever fails, Neovim must end.
local ok, result = pcall(vim.env.BENCHMARK and _G.benchmark or all_pass)
if not ok then io.stderr:write(tostring(result), '\n') end
vim.cmd(ok and result ~= false and 'qall!' or 'cquit 1')
