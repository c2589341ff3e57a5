import BrokerCore
import BrokerProtocol

/// How a broker ends in order: answers that come only once are awaited, and what they bring is kept.
extension Simulation {
  /// For how long the server awaits such answers.
  private static let longestDrain = Duration.seconds(25)

  /// Ends the broker as its server does, in any weather, and begins the next life.
  func stop() throws(Violation) {
    if chance(0.6), let profile = profiles.randomElement(using: &random)?.name {
      try askForToken(GetAccessToken.Params(profile: profile, timeout: .seconds(60), forceRefresh: true))
      for _ in 0..<3 { try answerStorage() }
    }
    trace.note("the broker is to end")
    counts.stops += 1
    isStopping = true
    defer { isStopping = false }
    life.broker.assumeIsolated { broker in
      broker.announceShutdown()
      broker.refuseLoginWaiters()
    }
    try turn()
    counts.awaited += spendingCalls.count
    let end = life.clock.uptime + Self.longestDrain
    while try isAwaited(), life.clock.uptime < end {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: try answerProvider()
      case 1, 2: try answerStorage()
      default: try pass(drawDuration(0...3))
      }
    }
    // Whatever is still under way has had longer than a call may take, or was sent meanwhile.
    try crash()
  }

  /// The calls that spend a token.
  private var spendingCalls: [Int] {
    life.providers.calls.filter { $0.question.question.spentToken != nil }.map(\.number)
  }

  /// Whether the end has to wait, as the broker says; that it need not is only right where nothing is under way that comes
  /// once.
  private func isAwaited() throws(Violation) -> Bool {
    let (hasWork, awaited) = life.broker.assumeIsolated { ($0.hasWork, $0.awaitedOnce) }
    guard awaited > 0 || spendingCalls.isEmpty else {
      throw Violation(.flightKept, "the broker ends, and calls \(spendingCalls) have not been answered")
    }
    guard hasWork || life.storage.calls.allSatisfy({ !$0.question.isCommit }) else {
      throw Violation(.flightKept, "the broker ends, and the disk has not kept everything")
    }
    return hasWork
  }
}
