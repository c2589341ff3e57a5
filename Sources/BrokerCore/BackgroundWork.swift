/// What runs apart from the loop: where, and how much is under way whose results must not be lost.
struct BackgroundWork {
  /// Where it runs; nil for the global pool.
  let executor: (any TaskExecutor)?
  /// How many calls are under way: neither the lock of the vault nor the end of the broker cuts them off.
  private(set) var calls = 0
  /// How many polls are under way: the answer to one may be a session, which comes only once, so that the end of the
  /// broker waits for them, too.
  private(set) var polls = 0

  /// Nothing is under way yet.
  init(on executor: (any TaskExecutor)?) { self.executor = executor }

  /// Whether something is under way that the end of the broker must wait for.
  var isUnderWay: Bool { calls > 0 || polls > 0 }

  /// Takes in that a call is begun.
  mutating func beginCall() { calls += 1 }

  /// Takes in that a call is over.
  mutating func endCall() { calls -= 1 }

  /// Takes in that a poll is sent.
  mutating func beginPoll() { polls += 1 }

  /// Takes in that a poll is answered.
  mutating func endPoll() { polls -= 1 }
}
