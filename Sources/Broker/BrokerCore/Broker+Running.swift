import BrokerProtocol
import SecretMemory

/// The calls and tasks that run beside the broker's loop, counted so that no result which comes only once is lost.
struct BackgroundWork {
  /// The executor of the tasks; nil for the global pool.
  let executor: (any TaskExecutor)?
  /// The cost of losing an answer.
  enum Worth: Sendable {
    /// It can be had again.
    case repeatable
    /// It comes only once: a token, a code or a name was spent for it.
    case spent
  }

  /// The number of calls under way: neither the lock of the vault nor the end of the broker cuts them off.
  private(set) var calls = 0
  /// How many of them have an answer that comes only once.
  private var flights = 0
  /// How many polls are under way: the answer to one may be a session, which comes only once, so that the end of the
  /// broker waits for them, too.
  private(set) var polls = 0

  /// Nothing is under way yet.
  init(on executor: (any TaskExecutor)?) { self.executor = executor }

  /// How many answers are awaited that come only once: the end of the broker waits for them as long as a provider may take.
  var awaitedOnce: Int { flights + polls }

  /// Whether something is under way that the end of the broker must wait for.
  var isUnderWay: Bool { calls > 0 || polls > 0 }

  /// Takes in that a call is begun.
  mutating func beginCall(_ worth: Worth = .repeatable) {
    calls += 1
    if worth == .spent { flights += 1 }
  }

  /// Takes in that a call is over.
  mutating func endCall(_ worth: Worth = .repeatable) {
    calls -= 1
    if worth == .spent { flights -= 1 }
  }

  /// Takes in that a poll is sent.
  mutating func beginPoll() { polls += 1 }

  /// Takes in that a poll is answered.
  mutating func endPoll() { polls -= 1 }
}

/// Running slow work beside the loop, and continuing with its result.
extension Broker {
  /// One call of a provider.
  typealias ProviderQuestion<Value> = @Sendable (any AuthProvider) async throws(ProviderFailure) -> Value

  /// The continuation with a provider's answer; the slot is nil where the profile has left the configuration meanwhile.
  typealias ProviderContinuation<Value> =
    @Sendable (isolated Broker, ProfileSlot?, Result<Value, ProviderFailure>) -> Void

  /// Calls the provider of a profile, notes what the outcome shows about the provider, and continues with it.
  ///
  /// The broker is busy meanwhile. `worth` is the cost of losing the answer when the broker ends.
  func ask<Value: Sendable>(
    _ slot: ProfileSlot, _ worth: BackgroundWork.Worth = .spent, _ question: @escaping ProviderQuestion<Value>,
    then go: @escaping ProviderContinuation<Value>
  ) {
    let (provider, id) = (slot.provider, slot.id)
    inBackground(worth) {
      let result = await Self.answer(of: provider, for: id.profile, to: question)
      return { broker in
        broker.noteCall(result.failure, of: id)
        go(broker, broker.slot(id), result)
      }
    }
  }

  /// Asks the provider of a profile, as ``ask(_:_:_:then:)`` does, while its user has something to do elsewhere: locking the
  /// vault does not wait for it.
  ///
  /// A failure after the task was cancelled is not taken in; a success is.
  ///
  /// - Parameters:
  ///   - slot: the profile.
  ///   - flight: where it is said that something is spent; nil for a call that may always bring a session.
  ///   - question: what is asked.
  ///   - tellsOfNetwork: which failures tell of the way to the provider.
  ///   - go: goes on with the answer.
  /// - Returns: the task that asks.
  @discardableResult
  func askDuringUserAction<Value: Sendable>(
    _ slot: ProfileSlot, _ flight: FlightMark? = nil, _ question: @escaping ProviderQuestion<Value>,
    noting tellsOfNetwork: @escaping @Sendable (ProviderFailure) -> Bool = { _ in true },
    then go: @escaping ProviderContinuation<Value>
  ) -> Task<Void, Never> {
    let (provider, id) = (slot.provider, slot.id)
    return Task {
      let result = await ProviderCall.$flight.withValue(flight) {
        await apart { await Self.answer(of: provider, for: id.profile, to: question) }
      }
      if Task.isCancelled, result.failure != nil { return }
      if result.failure.map(tellsOfNetwork) ?? true { noteCall(result.failure, of: id) }
      go(self, self.slot(id), result)
      noteWorkEnded()
    }
  }

  /// Calls a provider for a profile, with the first byte until an uptime if any, and returns the outcome as a value.
  static func answer<Value>(
    of provider: any AuthProvider, for name: ProfileName, by latest: Duration? = nil,
    to question: ProviderQuestion<Value>
  ) async -> Result<Value, ProviderFailure> {
    do throws(ProviderFailure) {
      return .success(
        try await ProviderCall.run(for: name, by: latest) { () async throws(ProviderFailure) in
          try await question(provider)
        })
    } catch {
      return .failure(error)
    }
  }

  /// Awaits an operation of no actor away from the global pool, which blocks its caller where it gets no thread.
  ///
  /// The caller goes on as the broker in every case. A call of a `nonisolated(nonsending)` function does not promise
  /// that: Swift 6.3 optimises away the way back before a `throw`, though callers rely on it (swiftlang/swift#83295).
  func apart<Value, Failure>(_ operation: () async throws(Failure) -> Value) async throws(Failure) -> Value {
    guard let executor = background.executor else { return try await operation() }
    return try await withTaskExecutorPreference(executor, operation: operation)
  }

  /// Runs a slow operation off the loop, then its continuation on the broker.
  ///
  /// The broker is busy meanwhile. `worth` is the cost of losing the result when the broker ends, and `room` the memory
  /// reserved for its secrets.
  func inBackground(
    _ worth: BackgroundWork.Worth = .repeatable, in room: SecretReservation? = nil,
    _ operation: @escaping @Sendable () async -> @Sendable (isolated Broker) -> Void
  ) {
    background.beginCall(worth)
    let plain = SecretScope(arena: SecretScope.current.arena)
    SecretScope(arena: plain.arena, reservation: room).run {
      _ = Task {
        let finish = await apart(operation)
        // The room is for what has come, and not for whatever is begun because of it.
        plain.run {
          // What comes while the machine wakes is not answered before that is noticed.
          lockIfDue()
          finish(self)
        }
        background.endCall(worth)
        noteWorkEnded()
      }
    }
  }

  /// Runs a closure at an uptime, unless the returned cancellation is called before.
  func schedule(at uptime: Duration, _ body: @escaping @Sendable (isolated Broker) -> Void) -> TimerCancellation {
    clock.schedule(at: uptime) { [weak self] in self?.assumeIsolated(body) }
  }

  /// Continues the work that waits for the end of slow calls: the locking of the vault, and the end of the broker.
  func noteWorkEnded() {
    finishLocking()
    if !hasWork { notify(.idle) }
  }
}

extension Result {
  /// Why there is no value; nil where there is one.
  var failure: Failure? {
    guard case .failure(let failure) = self else { return nil }
    return failure
  }
}
