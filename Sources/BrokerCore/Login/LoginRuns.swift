/// What runs for pending logins: waits for a browser, and the next wake-up.
struct LoginRuns {
  /// The waits for a browser, by the handle of the login.
  private var listeners: [String: Task<Void, Never>] = [:]
  private var timer: TimerCancellation?

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
