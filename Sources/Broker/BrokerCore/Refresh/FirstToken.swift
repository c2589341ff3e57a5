package import BrokerProtocol

/// Decides when the first token of a session that needs no login is requested: one request for all callers, which
/// outlives them, and none soon after one that failed.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state; what comes too late changes nothing.
package struct FirstToken: Sendable, Equatable {
  /// The state of the request.
  package enum State: Sendable, Equatable {
    /// Nothing is under way. Left when a token is wanted.
    case resting
    /// A request is on its way. Left by its answer, and by a login or a logout, after which its answer is not wanted.
    case sent(flight: UInt64)
    /// A request has failed. Left when a token is wanted after `until`, and by everything that may have cured it.
    indirect case backingOff(until: Duration, BrokerError)
  }

  /// The answer to a caller's wish.
  package enum Decision: Sendable, Equatable {
    /// Send a request.
    case send(flight: UInt64)
    /// Wait for the one that is under way.
    case join
    /// Not now.
    case refuse(BrokerError)
  }

  /// The present state.
  package private(set) var state = State.resting
  private var flights: UInt64 = 0
  private var failures = 0

  /// Nothing was requested.
  package init() {}

  /// Whether a request is on its way.
  var isUnderWay: Bool { if case .sent = state { true } else { false } }

  /// Handles a caller's wish for a token.
  package mutating func want(at uptime: Duration) -> Decision {
    switch state {
    case .sent: return .join
    case .backingOff(let until, var error) where uptime < until:
      error.wait(until - uptime)
      return .refuse(error)
    case .resting, .backingOff:
      flights += 1
      state = .sent(flight: flights)
      return .send(flight: flights)
    }
  }

  /// Takes in that a request has brought tokens; false for one whose tokens are not wanted any more.
  package mutating func land(_ flight: UInt64) -> Bool {
    guard state == .sent(flight: flight) else { return false }
    (state, failures) = (.resting, 0)
    return true
  }

  /// Takes in that a request has failed; nil for one that is not wanted any more.
  ///
  /// - Returns: the error for its callers, which says when another one may be sent.
  package mutating func fail(
    _ flight: UInt64, _ error: BrokerError, retryAfter: Duration?, jitter: Double, at uptime: Duration
  ) -> BrokerError? {
    guard state == .sent(flight: flight) else { return nil }
    failures += 1
    let delay = Backoff.delay(afterFailures: failures, jitter: jitter, floor: retryAfter)
    let pause = Backoff.pauseOfCallers(delay, jitter: jitter, floor: retryAfter)
    var error = error
    error.wait(pause)
    state = .backingOff(until: uptime + pause, error)
    return error
  }

  /// Takes in that what was wrong may be right now: the next wish is sent at once.
  package mutating func forgive() {
    if case .backingOff = state { state = .resting }
  }

  /// Takes in that the session has begun, or was ended, by another way.
  package mutating func cancel() { state = .resting }
}
