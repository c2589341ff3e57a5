/// A breaker against refresh loops: so many refreshes in a minute, and no more.
package struct RefreshBudget: Sendable {
  /// More refreshes than this in the window are a loop and no use.
  package static let limit = 20
  /// The window.
  package static let window = Duration.seconds(60)

  private let limit: Int
  private var spent: [Duration] = []

  /// A budget of which nothing is spent.
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
