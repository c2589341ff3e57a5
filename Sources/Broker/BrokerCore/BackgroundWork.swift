/// What runs apart from the loop: where, and how much is under way whose results must not be lost.
struct BackgroundWork {
  /// Where it runs; nil for the global pool.
  let executor: (any TaskExecutor)?
  /// What an answer is worth.
  enum Worth: Sendable {
    /// It can be had again.
    case repeatable
    /// It comes only once: a token, a code or a name was spent for it.
    case spent
  }

  /// How many calls are under way: neither the lock of the vault nor the end of the broker cuts them off.
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
