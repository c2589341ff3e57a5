--- One connection to the broker: `authbroker serve --stdio` finds or starts it, and JSON-RPC goes over its standard
-- streams, one message a line. Everything here is asynchronous and runs in libuv's callbacks.
local problem = require('authbroker.problem')
local uv = vim.loop

local Connection = {}
Connection.__index = Connection

-- The most that is read of one message, in bytes: four times what the broker queues for a client that reads.
local LONGEST_MESSAGE = 16 * 1024 * 1024
-- The most that is kept of what the program says on standard error, in bytes.
local LONGEST_COMPLAINT = 4096

--- Starts the program.
--
-- @param options `command`: the program and its first arguments; `no_start`: do not start a broker; `on_event`: called
-- with the params of each event; `on_end`: called with the error when the connection has ended.
-- @return the connection; or nil and an error
function Connection.open(options)
  local self = setmetatable({
    command = options.command, on_event = options.on_event, on_end = options.on_end,
    waiting = {}, last_id = 0, rest = {}, rest_length = 0,
    complaint = '', answered = false, running = true, open_ends = 3,
    input = uv.new_pipe(false), output = uv.new_pipe(false), errors = uv.new_pipe(false),
  }, Connection)
  local arguments = vim.list_slice(options.command, 2)
  vim.list_extend(arguments, { 'serve', '--stdio' })
  if options.no_start then table.insert(arguments, '--no-start') end
  local handle = uv.spawn(options.command[1], {
    args = arguments, cwd = '/', stdio = { self.input, self.output, self.errors }, hide = true,
  }, function() self:ended_one('process') end)
  if not handle then
    for _, pipe in ipairs({ self.input, self.output, self.errors }) do pipe:close() end
    return nil, problem.new('noBroker', 'there is no program ' .. options.command[1]
      .. '; install AuthBroker, or name its path with setup{command = {…}}')
  end
  self.process = handle
  self:resume()
  self.errors:read_start(function(failure, text)
    if failure or not text then return self:ended_one('errors') end
    self.complaint = (self.complaint .. text):sub(1, LONGEST_COMPLAINT)
  end)
  return self
end

--- Reads what the program writes.
function Connection:resume()
  if self.output:is_closing() then return end
  self.output:read_start(function(failure, text)
    if failure or not text then return self:ended_one('output') end
    self:receive(text)
  end)
end

--- Leaves what the program writes to the pipe, and so in the end to the broker, until `resume`.
function Connection:pause()
  if not self.output:is_closing() then self.output:read_stop() end
end

--- Notes that the process, or one of its streams, has ended; when all have, nothing more can come.
function Connection:ended_one(name)
  if not self[name]:is_closing() then self[name]:close() end
  self.open_ends = self.open_ends - 1
  if self.open_ends == 0 then self:finish(self:lost()) end
end

--- The error of a connection that has ended.
function Connection:lost()
  if self.answered then
    return problem.new('connectionLost', 'the broker closed the connection before it answered', true)
  end
  local reason = self.complaint:match('authbroker: ([^\n]+)')
  return problem.new('noBroker', reason or 'the broker ended without a word; see: authbroker doctor', true)
end

--- Ends the connection with an error for every call that waits.
function Connection:finish(reason)
  if not self.running then return end
  self.running = false
  if not self.input:is_closing() then self.input:close() end
  local waiting = self.waiting
  self.waiting = {}
  for _, callback in pairs(waiting) do callback(reason) end
  if self.on_end then self.on_end(reason) end
end

--- Takes no more calls; the connection ends with the last one that is under way.
function Connection:retire()
  self.retired = true
  if next(self.waiting) == nil then self:close() end
end

--- Ends the connection on purpose: only the calls that wait are told.
function Connection:close()
  self.on_end, self.on_event = nil, nil
  self:finish(problem.new('cancelled', 'the connection was closed'))
end

--- Writes a message.
function Connection:send(message)
  message.jsonrpc = '2.0'
  self.input:write(vim.json.encode(message) .. '\n')
end

--- Calls a method; by the program, which proves access to the state directory, where the broker wants that.
--
-- @param callback called once with an error, or with nil and the result
-- @return a function that cancels the request
function Connection:request(method, params, callback)
  if not self.running then
    callback(self:lost())
    return function() end
  end
  local id = self:ask(method, params, function(refusal, result)
    if not refusal or not Connection.is_provable(refusal, method, params) then return callback(refusal, result) end
    self:prove(method, params, callback)
  end)
  return function() self:cancel(id) end
end

--- Sends a request and returns its id.
function Connection:ask(method, params, callback)
  self.last_id = self.last_id + 1
  local id = self.last_id
  self.waiting[id] = callback
  self:send({ id = id, method = method, params = params })
  return id
end

--- Tells the broker that an answer is no longer wanted.
function Connection:cancel(id)
  local callback = self.waiting[id]
  if not callback or not self.running then return end
  self.waiting[id] = nil
  self:send({ method = '$/cancelRequest', params = { id = id } })
  if self.retired then self:retire() end
  callback(problem.new('cancelled', 'the request was cancelled'))
end

-- Methods for clients that have the state directory, besides `logout` with `all` and those with `Local` in their names.
local ADMINISTRATIVE = { rekey = true, lock = true, reloadConfig = true, stopBroker = true, checkVault = true,
  tryProvider = true, continueTrial = true }
-- Methods that want a recent login, which a proof takes the place of.
local ACCOUNT_CHANGES = { login = true, register = true, updateProfile = true, generateBackupCodes = true,
  completeLogin = true }

--- Whether a refusal of a method is answered with a proof. Never for a token: whatever answers on a socket learns from
-- such a call only what it has been told.
function Connection.is_provable(refusal, method, params)
  if not (refusal.data and refusal.data.proof) then return false end
  if refusal.kind == 'reauthRequired' then return ACCOUNT_CHANGES[method] or false end
  return refusal.kind == 'accessDenied' and (ADMINISTRATIVE[method] or method:find('Local', 1, true) ~= nil
    or method == 'logout' and type(params) == 'table' and params.all == true)
end

--- Calls a method by the program, which proves access to the state directory, and only to the owner of the one that it
-- has found itself: Lua cannot ask the kernel who listens on a socket.
function Connection:prove(method, params, callback)
  local input, output = uv.new_pipe(false), uv.new_pipe(false)
  local arguments = vim.list_slice(self.command, 2)
  vim.list_extend(arguments, { 'call', '--json', method, '-' })
  local said, length, open_ends = {}, 0, 2
  local process
  local function ended_one(handle)
    if not handle:is_closing() then handle:close() end
    open_ends = open_ends - 1
    if open_ends == 0 then callback(Connection.outcome(table.concat(said))) end
  end
  process = uv.spawn(self.command[1], { args = arguments, cwd = '/', stdio = { input, output, nil }, hide = true },
    function() ended_one(process) end)
  if not process then
    input:close()
    output:close()
    return callback(problem.new('noBroker', 'the program ' .. self.command[1] .. ' cannot be started'))
  end
  output:read_start(function(failure, text)
    if failure or not text then return ended_one(output) end
    length = length + #text
    if length > LONGEST_MESSAGE then return process:kill('sigterm') end
    table.insert(said, text)
  end)
  input:write(params and next(params) and vim.json.encode(params) or '{}')
  input:shutdown(function() if not input:is_closing() then input:close() end end)
end

--- The error, or nil and the result, of what a call has printed.
function Connection.outcome(text)
  local ok, answer = pcall(vim.json.decode, text, { luanil = { object = true } })
  if not ok or type(answer) ~= 'table' then
    return problem.new('unexpectedAnswer', 'the program has not said what became of the call')
  end
  if type(answer.error) == 'table' then return problem.of_broker(answer.error) end
  return nil, answer
end

--- Takes bytes apart into messages.
function Connection:receive(text)
  local start = 1
  while self.running do
    local stop = text:find('\n', start, true)
    local part = text:sub(start, stop and stop - 1)
    self.rest_length = self.rest_length + #part
    if self.rest_length > LONGEST_MESSAGE then
      return self:broken('a message is too long')
    end
    table.insert(self.rest, part)
    if not stop then return end
    local line = table.concat(self.rest)
    self.rest, self.rest_length = {}, 0
    start = stop + 1
    if line ~= '' then self:take(line) end
  end
end

--- Ends the connection to something that does not speak the protocol.
function Connection:broken(what)
  if not self.process:is_closing() then self.process:kill('sigterm') end
  self:finish(problem.new('unexpectedAnswer', "the broker's answer is not what was expected: " .. what))
end

--- Hands a message to the call that waits for it, or an event to the subscription.
function Connection:take(line)
  local ok, message = pcall(vim.json.decode, line, { luanil = { object = true } })
  if not ok or type(message) ~= 'table' then return self:broken('a message is no JSON-RPC') end
  self.answered = true
  if message.method then
    if message.method == 'event' and self.on_event and type(message.params) == 'table' then
      self.on_event(message.params)
    end
    return
  end
  local refusal = type(message.error) == 'table' and problem.of_broker(message.error) or nil
  if message.id == nil then
    -- The broker could not make out which request it refuses.
    return refusal and self:finish(refusal) or self:broken('a response has no id')
  end
  local callback = self.waiting[message.id]
  self.waiting[message.id] = nil
  if not callback then return end
  if not refusal and message.result == nil then
    refusal = problem.new('unexpectedAnswer', "the broker's answer is not what was expected: it has no result")
  end
  callback(refusal, message.result)
  if self.retired then self:retire() end
end

return Connection
