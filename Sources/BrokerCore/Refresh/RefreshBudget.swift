/// The breaker against refresh loops: so many refreshes in a minute, and no more.
package struct RefreshBudget: Sendable {
  /// More refreshes than this in the window are a loop and no use.
  package static let limit = 20
  /// The window.
  package static let window = Duration.seconds(60)

  private var spent: [Duration] = []

  /// A budget of which nothing is spent.
  package init() {}

  /// Spends one refresh; otherwise tells how long to wait for the next.
  package mutating func spend(at uptime: Duration) -> Duration? {
    spent.removeAll { uptime - $0 >= Self.window }
    guard spent.count >= Self.limit, let oldest = spent.first else {
      spent.append(uptime)
      return nil
    }
    return oldest + Self.window - uptime
  }
}
