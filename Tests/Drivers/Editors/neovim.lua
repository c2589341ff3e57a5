-- Neovim's language-server client drives the broker: header framing over standard input and output.
-- Run by Tests/Drivers/Editors/run: `nvim --headless --clean -c 'luafile neovim.lua'`. $RESULTS: where PASS, FAIL and DONE go.

local results = assert(io.open(assert(os.getenv('RESULTS')), 'a'))
local heard = {}

local function say(line)
  results:write(line, '\n')
  results:flush()
end

local function check(name, truth, seen)
  say(truth and ('PASS neovim ' .. name) or ('FAIL neovim ' .. name .. ': ' .. vim.inspect(seen):gsub('%s+', ' ')))
end

local dispatchers = {
  notification = function(method, params) table.insert(heard, { method = method, params = params }) end,
  server_request = function() return nil, { code = -32601, message = 'none' } end,
  on_exit = function() end,
  on_error = function(code, problem) say('FAIL neovim client error: ' .. vim.inspect({ code, problem })) end,
}

local function start()
  -- The signature changed in 0.11: one list, where there were a command and its arguments.
  if vim.fn.has('nvim-0.11') == 1 then return vim.lsp.rpc.start({ 'authbroker', 'serve', '--stdio' }, dispatchers) end
  return vim.lsp.rpc.start('authbroker', { 'serve', '--stdio' }, dispatchers)
end

-- Sends a request and waits for its answer: error, result.
local function ask(client, method, params)
  local problem, result, answered
  client.request(method, params, function(e, r) problem, result, answered = e, r, true end)
  if not vim.wait(250000, function() return answered end, 10) then error(method .. ': no answer') end
  return problem, result
end

local function journey()
  local client = assert(start(), 'the program does not start')
  local problem, result = ask(client, 'initialize', { client = { name = 'neovim', version = '0' } })
  check('initialize', result and result.protocolVersion == '1', { problem, result })
  -- An empty Lua table goes out as an empty array.
  problem, result = ask(client, 'ping', {})
  check('[] as params', not problem, problem)
  problem, result = ask(client, 'getAccessToken', { profile = 'default' })
  check('getAccessToken', result and #result.accessToken > 20, problem)
  problem, result = ask(client, 'noSuchMethod', vim.empty_dict())
  check('unknown method', problem and problem.code == -32601, problem)
  local _, subscription = ask(client, 'subscribe', { events = { 'tokenRefreshed' } })
  check('subscribe', subscription and subscription.subscriptionId, subscription)
  ask(client, 'getAccessToken', { forceRefresh = true })
  vim.wait(250000, function() return #heard > 0 end, 10)
  local first = heard[1] or { params = {} }
  check('event', first.method == 'event' and first.params.event == 'tokenRefreshed'
    and first.params.subscriptionId == subscription.subscriptionId, heard)
end

local ok, problem = pcall(journey)
say(ok and 'DONE' or ('FAIL neovim: ' .. tostring(problem)))
results:close()
vim.cmd('qall!')
