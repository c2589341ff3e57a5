--- Events of AuthBroker.
--
-- A subscription has a connection of its own and outlives the broker: after a loss it goes on behind the last event
-- that was seen. A broker that was killed is started again; one that was stopped is waited for.
local authbroker = require('authbroker')
local Connection = require('authbroker.connection')
local problem = require('authbroker.problem')

local M = {}

-- So many events wait for the main loop before the others are left to the broker, which tells by eventsLost what it
-- could not keep.
local EVENT_LIMIT = 1000
-- The pauses between two tries to find the broker again, in milliseconds.
local FIRST_PAUSE, LONGEST_PAUSE = 100, 2000

local Subscription = {}
Subscription.__index = Subscription

--- Calls a function in the main loop with each event: `sequence`, `event`, `profile`, `time`, `data`, never a token.
--
-- Two events say that some may be missing: `eventsLost`, with the sequences in `data`, and `resync`, with `sessions`
-- as they stand, where a broker came back without what had happened meanwhile.
--
-- @param options `events` and `profiles`: lists of names, nil for all; `since`: the last sequence that was seen, what
-- came behind it is told first
-- @return the subscription, with `id`, `snapshot` (`sequence`, `sessions`, `resync`) and `close()`; or nil and an
-- error
function M.subscribe(callback, options)
  options = options or {}
  local self = setmetatable({ options = options, last = options.since, pause = FIRST_PAUSE }, Subscription)
  self.queued = 0
  local deliver = vim.schedule_wrap(function(event)
    self.queued = self.queued - 1
    if self.queued == 0 and self.connection then self.connection:resume() end
    if not self.closed then callback(event) end
  end)
  self.callback = function(event)
    self.queued = self.queued + 1
    if self.queued >= EVENT_LIMIT then self.connection:pause() end
    deliver(event)
  end
  local timeout_ms = authbroker.settings.timeout_ms
  local deadline = vim.loop.hrtime() / 1e6 + timeout_ms
  local pause_after = authbroker._repetition('subscribe', timeout_ms)
  local answered, failure
  repeat
    local done, pause = false, nil
    self:begin(false, function(refusal) done, failure = true, refusal end)
    local left = math.max(0, math.floor(deadline - vim.loop.hrtime() / 1e6))
    answered = vim.wait(left, function() return done end, 50)
    if answered and not failure then return self end
    if answered then pause = pause_after(failure) end
    if pause then
      if self.connection then self.connection:close() end
      vim.wait(pause)
    end
  until not pause
  -- Closing ends what is still awaited with an error of its own.
  local reason = failure or problem.timed_out()
  self:close()
  return nil, reason
end

--- Ends the subscription.
function Subscription:close()
  if self.closed then return end
  self.closed = true
  if self.timer then self.timer:close() end
  -- The end of its connection is the end of a subscription.
  if self.connection then self.connection:close() end
end

--- Connects and subscribes.
--
-- @param again whether after a loss
-- @param finished called with an error and the connection on which it came, or with nothing
function Subscription:begin(again, finished)
  local connection, failure
  connection, failure = Connection.open({
    command = authbroker.settings.command,
    no_start = again and self.stopping,
    on_event = function(event) self:take(event) end,
    on_end = function() if self.connection == connection then self:resume_later() end end,
  })
  if not connection then return finished(failure) end
  self.connection = connection
  local events = self.options.events
  if events then
    -- Asked for in any case: it says whether the end of a broker is wanted.
    local others = vim.tbl_filter(function(name) return name ~= 'shuttingDown' end, events)
    events = vim.list_extend({ 'shuttingDown' }, others)
  end
  connection:request('subscribe', { events = events, profiles = self.options.profiles, since = self.last },
    function(refusal, snapshot)
      if refusal then return finished(refusal, connection) end
      self:note(snapshot, again)
      finished()
    end)
end

--- Notes where the sessions stand at the beginning.
function Subscription:note(snapshot, again)
  self.id, self.pause, self.stopping = snapshot.subscriptionId, FIRST_PAUSE, false
  if not again then self.snapshot = snapshot end
  if not self.last or snapshot.resync then self.last = snapshot.sequence end
  if snapshot.resync and again then
    self.callback({ event = 'resync', sequence = snapshot.sequence, time = os.date('!%Y-%m-%dT%H:%M:%SZ'),
      sessions = snapshot.sessions })
  end
end

--- Delivers an event, if it was asked for. What comes before the answer to `subscribe` was not.
function Subscription:take(event)
  if not self.id then return end
  self.last = math.max(self.last or 0, event.sequence or 0)
  if event.event == 'shuttingDown' then
    self.stopping = true
    local events = self.options.events
    if events and not vim.tbl_contains(events, 'shuttingDown') then return end
  end
  self.callback(event)
end

--- Looks for another broker after a pause; the pauses grow.
function Subscription:resume_later()
  if self.closed or not self.id then return end
  local pause = self.pause
  self.pause = math.min(2 * pause, LONGEST_PAUSE)
  self.timer = vim.loop.new_timer()
  self.timer:start(pause, 0, function()
    self.timer:close()
    self.timer = nil
    if self.closed then return end
    self:begin(true, function(refusal, connection)
      -- A connection that has ended looks again by itself.
      if not refusal or self.closed or connection and not connection.running then return end
      if connection then connection:close() end
      self:resume_later()
    end)
  end)
end

return M
