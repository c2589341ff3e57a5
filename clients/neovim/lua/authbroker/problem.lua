--- Errors of AuthBroker's Neovim package.
--
-- An error is a table that prints as a sentence: `kind` is its stable name, `next_action` what to do, `retryable`
-- whether the same call may succeed later. Kinds of this package itself: noBroker, connectionLost, cancelled,
-- unexpectedAnswer. The end of a time limit is deadlineExceeded, whether the broker says so or this package. No text of
-- an error holds a secret.
local M = {}

local Problem = {}
Problem.__index = Problem
Problem.__tostring = function(problem) return problem.message end

--- Returns an error of this package.
function M.new(kind, message, retryable)
  return setmetatable({
    kind = kind, message = message, retryable = retryable or false, next_action = retryable and 'retry' or 'none',
  }, Problem)
end

--- Returns the error of a call whose time limit is over; `unanswered` tells it from the broker's own one.
function M.timed_out()
  local result = M.new('deadlineExceeded', 'the broker did not answer in time', true)
  result.code, result.unanswered = 1087, true
  return result
end

-- What a terminal obeys or hides, in UTF-8: control characters, format characters and separators of lines.
local UNFIT = {
  '%c', '\194[\128-\159\173]', '\216[\128-\133\156]', '\219\157', '\220\143', '\225\160\142',
  '\226\128[\139-\143\168-\174]', '\226\129[\160-\175]', '\239\187\191', '\239\191[\185-\187]',
  '\243\160[\128\129][\128-\191]',
}

--- Returns text of another program, made fit for a terminal: such characters become question marks.
function M.plain(text)
  for _, pattern in ipairs(UNFIT) do text = text:gsub(pattern, '?') end
  return text
end

--- Returns the error for the member `error` of a response.
function M.of_broker(object)
  local data = type(object.data) == 'table' and object.data or {}
  return setmetatable({
    code = object.code, message = M.plain(tostring(object.message)), kind = data.kind or 'unexpectedAnswer',
    next_action = data.nextAction, retryable = data.retryable == true, retry_after_seconds = data.retryAfterSeconds,
    profile = data.profile, pointer = data.pointer, fields = data.fields, attempts_remaining = data.attemptsRemaining,
    challenge = data.challenge, correlation_id = data.correlationId, scopes = data.scopes, acr_values = data.acrValues,
    max_age = data.maxAge, data = data,
  }, Problem)
end

--- Whether a value is an error of this package or of the broker.
function M.is(value) return getmetatable(value) == Problem end

return M
