/// What runs for pending logins: waits for a browser, and the next wake-up.
struct LoginRuns {
  /// The waits for a browser, by the handle of the login.
  private var listeners: [String: (task: Task<Void, Never>, flight: FlightMark)] = [:]
  // Those that were given up and may spend still.
  private var left: [FlightMark] = []
  private var timer: TimerCancellation?

  /// Takes in what waits for the browser of a login.
  mutating func listen(_ id: String, _ listener: Task<Void, Never>, _ flight: FlightMark) {
    listeners[id] = (listener, flight)
  }

  /// Waits for the browser of a login no longer; a code that it has brought is exchanged all the same.
  mutating func stopListening(_ id: String) {
    guard let (task, flight) = listeners.removeValue(forKey: id) else { return }
    task.cancel()
    left.removeAll { !$0.isSpending }
    if flight.isSpending { left.append(flight) }
  }

  /// Whether the code is being exchanged that the browser of a login has brought.
  func isSpending(_ id: String) -> Bool { listeners[id]?.flight.isSpending ?? false }

  /// How many codes are being exchanged that browsers have brought.
  var spendingCount: Int { (listeners.values.map(\.flight) + left).count { $0.isSpending } }

  /// Sets the next wake-up in place of the last; nil for none.
  mutating func setTimer(_ next: TimerCancellation?) {
    timer?.cancel()
    timer = next
  }
}
