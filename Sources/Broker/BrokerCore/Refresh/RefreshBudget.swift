/// A breaker against refresh loops: so many refreshes in a minute, and no more.
package struct RefreshBudget: Sendable {
  /// More refreshes than this in the window are a loop and no use.
  package static let limit = 20
  /// The window.
  package static let window = Duration.seconds(60)

  private let limit: Int
  private var spent: [Duration] = []

  /// A full budget.
  package init(limit: Int = RefreshBudget.limit) { self.limit = limit }

  /// How long to wait for the next refresh; nil where it may be spent now.
  func wait(at uptime: Duration) -> Duration? {
    let recent = spent.filter { uptime - $0 < Self.window }
    guard recent.count >= limit, let oldest = recent.first else { return nil }
    return oldest + Self.window - uptime
  }

  /// Spends one refresh; otherwise tells how long to wait for the next.
  package mutating func spend(at uptime: Duration) -> Duration? {
    if let wait = wait(at: uptime) { return wait }
    spent.removeAll { uptime - $0 >= Self.window }
    spent.append(uptime)
    return nil
  }

  /// Whether nothing is spent any more.
  func isFresh(at uptime: Duration) -> Bool { spent.allSatisfy { uptime - $0 >= Self.window } }
}

/// The breakers of a session's other tokens: one for each target, so that a client that loops on one stops no other one's,
/// and one for all of them together.
///
/// The session's own breaker is not among them: whatever targets clients think of, the session itself can be refreshed.
struct TargetBudgets: Sendable {
  /// The most refreshes in a minute for all targets together: as many as five that loop may have, and more than the
  /// tokens that are kept.
  static let limitForAll = 100

  private var each: [TokenTarget: RefreshBudget] = [:]
  private var all = RefreshBudget(limit: limitForAll)

  /// Spends one refresh for a target; otherwise tells how long to wait for the next.
  ///
  /// What is kept is bounded by what may be spent in a minute.
  mutating func spend(_ target: TokenTarget, at uptime: Duration) -> Duration? {
    each = each.filter { !$0.value.isFresh(at: uptime) }
    if let wait = [all.wait(at: uptime), each[target]?.wait(at: uptime)].compactMap(\.self).max() { return wait }
    _ = all.spend(at: uptime)
    _ = each[target, default: RefreshBudget()].spend(at: uptime)
    return nil
  }
}

/// How long to wait after the n-th failure in a row: exponential with full jitter, from 1 s to 5 min.
package struct Backoff: Sendable {
  /// The first bound: quick enough for a network that was away for a moment.
  static let shortest = Duration.seconds(1)
  /// The last bound: a provider that is down for hours is asked twelve times an hour.
  static let longest = Duration.seconds(300)

  /// The shortest pause between tries for callers' requests, or up to twice that, however long the schedule waits: a
  /// person has perhaps just fixed the fault.
  static let callersPause = Duration.seconds(5)
  /// The longest time that a provider's own wish (`Retry-After`) binds a caller's request.
  static let longestCallersPause = Duration.seconds(60)
  /// The same wish binds what no caller has asked for as long as this.
  static let longestWish = Duration.seconds(3600)

  /// The wait after `failures` failures in a row; a provider's own wish (`Retry-After`) is a floor.
  ///
  /// `jitter` is a random number from 0 to 1.
  package static func delay(afterFailures failures: Int, jitter: Double, floor: Duration?) -> Duration {
    let doublings = min(max(failures - 1, 0), 9)
    let bound = min(shortest * Double(1 << doublings), longest)
    let drawn = bound * min(max(jitter, 0), 1)
    return min(max(drawn, floor ?? .milliseconds(100)), longestWish)
  }

  /// How long callers wait where the schedule waits for `delay`; `jitter` and `floor` as before.
  static func pauseOfCallers(_ delay: Duration, jitter: Double, floor: Duration?) -> Duration {
    let pause = callersPause * (1 + min(max(jitter, 0), 1))
    return min(delay, max(pause, min(floor ?? .zero, longestCallersPause)))
  }
}
