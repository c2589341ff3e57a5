/// What runs for pending logins: polls, waits for a browser, and the next wake-up.
struct LoginRuns {
  /// How many polls are under way: the answer to one may be a session, which comes only once.
  private var pollCount = 0
  /// The waits for a browser, by the handle of the login.
  private var listeners: [String: Task<Void, Never>] = [:]
  private var timer: TimerCancellation?

  /// Whether a poll is under way.
  var isPolling: Bool { pollCount > 0 }

  /// Takes in that a poll is sent.
  mutating func beginPoll() { pollCount += 1 }

  /// Takes in that a poll is answered.
  mutating func endPoll() { pollCount -= 1 }

  /// Takes in what waits for the browser of a login.
  mutating func listen(_ id: String, _ listener: Task<Void, Never>) { listeners[id] = listener }

  /// Waits for the browser of a login no longer.
  mutating func stopListening(_ id: String) { listeners.removeValue(forKey: id)?.cancel() }

  /// Sets the next wake-up in place of the last; nil for none.
  mutating func setTimer(_ next: TimerCancellation?) {
    timer?.cancel()
    timer = next
  }
}
