import BrokerProtocol

/// The logins that their provider has not answered yet, or whose session is being saved.
struct LoginAttempts {
  private var attempts: [LoginAttempt] = []
  private var count: UInt64 = 0

  /// A login that is under way.
  subscript(id: UInt64) -> LoginAttempt? { attempts.first { $0.id == id } }

  /// How many logins of a profile are under way.
  func count(on slot: ProfileSlot) -> Int { attempts.count { $0.slot == slot.id } }

  /// Whether a login is under way that would be taken in.
  func hasAny(on slot: ProfileSlot) -> Bool { attempts.contains { $0.isPresent(on: slot) } }

  /// Lets a caller, whose connection is `principal`, wait for an equal login.
  ///
  /// - Returns: false where none is under way.
  mutating func join(
    _ caller: CallerID, of principal: Principal, _ question: LoginAttempt.Question, on slot: ProfileSlot
  ) -> Bool {
    guard
      let same = attempts.firstIndex(where: {
        $0.plan.question == question && $0.isWanted(on: slot)
      })
    else { return false }
    attempts[same].callers.append(caller)
    if attempts[same].client != principal.client {
      attempts[same].isShared = true
      attempts[same].beginners.add(principal)
    }
    return true
  }

  /// Begins a login for a caller, whose connection is `principal`.
  ///
  /// - Returns: its name.
  mutating func begin(
    _ plan: LoginAttempt.Plan, on slot: ProfileSlot, for caller: CallerID, of principal: Principal
  ) -> UInt64 {
    count += 1
    var attempt = LoginAttempt(
      id: count, slot: slot.id, logouts: slot.logouts, locks: slot.locks, plan: plan, client: principal.client,
      callers: [caller])
    attempt.beginners.add(principal)
    attempts.append(attempt)
    return count
  }

  /// Takes a caller out of the login that it waits for.
  ///
  /// - Parameters:
  ///   - caller: the caller that leaves.
  ///   - isCancelled: whether it wants the login no more; one whose connection was closed has not changed its mind.
  /// - Returns: false where there is no such login, and for a cancelled one that its provider has answered already.
  mutating func leave(_ caller: CallerID, isCancelled: Bool) -> Bool {
    guard let index = attempts.firstIndex(where: { $0.callers.contains(caller) }),
      !isCancelled || !attempts[index].isAnswered
    else { return false }
    attempts[index].callers.removeAll { $0 == caller }
    if !isCancelled { attempts[index].hasAbsentCaller = true }
    return true
  }

  /// Notes that the provider has answered: the session is being saved.
  mutating func noteAnswered(_ id: UInt64) {
    if let index = attempts.firstIndex(where: { $0.id == id }) { attempts[index].isAnswered = true }
  }

  /// Ends a login.
  ///
  /// - Returns: everyone who waits for it.
  mutating func finish(_ id: UInt64) -> [CallerID] {
    guard let index = attempts.firstIndex(where: { $0.id == id }) else { return [] }
    return attempts.remove(at: index).callers
  }
}

/// The tasks of pending logins: waits for a browser, and the next wake-up.
struct LoginRuns {
  /// The waits for a browser, by the handle of the login.
  private var listeners: [String: (task: Task<Void, Never>, flight: FlightMark)] = [:]
  // Those that were given up and may spend still.
  private var left: [FlightMark] = []
  private var timer: TimerCancellation?

  /// Adds the task that waits for the browser of a login.
  mutating func listen(_ id: String, _ listener: Task<Void, Never>, _ flight: FlightMark) {
    listeners[id] = (listener, flight)
  }

  /// Stops waiting for the browser of a login; a code that it has brought is exchanged all the same.
  mutating func stopListening(_ id: String) {
    guard let (task, flight) = listeners.removeValue(forKey: id) else { return }
    task.cancel()
    left.removeAll { !$0.isSpending }
    if flight.isSpending { left.append(flight) }
  }

  /// Whether the code that the browser of a login has brought is being exchanged.
  func isSpending(_ id: String) -> Bool { listeners[id]?.flight.isSpending ?? false }

  /// How many codes are being exchanged that browsers have brought.
  var spendingCount: Int { (listeners.values.map(\.flight) + left).count { $0.isSpending } }

  /// Sets the next wake-up in place of the last; nil for none.
  mutating func setTimer(_ next: TimerCancellation?) {
    timer?.cancel()
    timer = next
  }
}
