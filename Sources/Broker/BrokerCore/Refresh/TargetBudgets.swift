/// The breakers of a session's other tokens: one for each target, so that a client that loops on one stops no other one's,
/// and one for all of them together.
///
/// The session's own breaker is not among them: whatever targets clients think of, the session itself can be refreshed.
struct TargetBudgets: Sendable {
  /// More refreshes than this in a minute, for all targets together: as many as five that loop may have, and more than
  /// fit in what is kept.
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
