package import BrokerProtocol
import Synchronization

/// The one place that enforces limits: it knows the numbers, the use of those that hold over all connections, and how
/// often each limit refused.
///
/// Usable from any thread. A check that passes costs a lock and an array index; the cached answer to `getAccessToken`
/// asks nothing here.
package final class LimitLedger: Sendable {
  private struct State {
    var limits = Limits()
    var used = [Int](repeating: 0, count: Limit.rows.count)
    var refused = [Int](repeating: 0, count: Limit.rows.count)
  }

  private let state = Mutex(State())

  /// A ledger with the default limits, and nothing in use.
  package init() {}

  /// The present numbers; a change holds for all requests from then on.
  package var limits: Limits {
    get { state.withLock { $0.limits } }
    set { state.withLock { $0.limits = newValue } }
  }

  /// Checks an amount that is in use, or would be, in the unit of the limit; `profile` is the profile that it counts
  /// for, if any.
  ///
  /// - Throws: the limit's error where that is too much; the refusal is counted.
  package func require(_ limit: Limit, _ amount: Int, of profile: ProfileName? = nil) throws(BrokerError) {
    let isRefused = state.withLock { state in
      let isRefused = amount > state.limits[limit]
      if isRefused { state.refused[limit.rawValue] += 1 }
      return isRefused
    }
    if isRefused { throw error(of: limit, of: profile) }
  }

  /// Counts a use that exists already: negative where it became less.
  ///
  /// - Returns: whether the budget is exceeded now; what the caller does about it, it notes by ``note(_:)``.
  package func add(_ limit: Limit, _ change: Int) -> Bool {
    state.withLock { state in
      state.used[limit.rawValue] += change
      return state.used[limit.rawValue] > state.limits[limit]
    }
  }

  /// How much of a budget of all clients together is in use.
  package func used(_ limit: Limit) -> Int { state.withLock { $0.used[limit.rawValue] } }

  /// How often a limit refused something.
  package func refused(_ limit: Limit) -> Int { state.withLock { $0.refused[limit.rawValue] } }

  /// Counts a refusal of a limit that was checked elsewhere: by the scanner, by a timer.
  package func note(_ limit: Limit) {
    state.withLock { $0.refused[limit.rawValue] += 1 }
  }

  /// Counts a refusal of a limit of calls.
  ///
  /// - Returns: its error, with the time to wait.
  package func refuse(_ limit: Limit, for wait: Duration, of profile: ProfileName?) -> BrokerError {
    note(limit)
    var error = error(of: limit, of: profile)
    error.retryAfter = wait
    return error
  }

  /// The error that a limit's refusal gives, without counting it.
  package func error(of limit: Limit, of profile: ProfileName? = nil) -> BrokerError {
    let row = limit.row
    let value = limits[limit]
    let number = row.isTime ? Self.seconds(value) : "\(value)"
    return BrokerError(row.error ?? .overloaded, "The limit \(row.name) (\(number)) is exceeded.", profile: profile)
  }

  private static func seconds(_ milliseconds: Int) -> String {
    milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
  }

  /// Every limit as `getStatus` tells it.
  package var report: [GetStatus.Limit] {
    let state = state.withLock { $0 }
    return Limit.rows.map { row in
      let (value, index) = (state.limits[row.limit], row.limit.rawValue)
      return GetStatus.Limit(
        name: row.name, scope: row.scope.rawValue, value: row.isTime ? Double(value) / 1000 : Double(value),
        used: row.scope == .broker && !row.isTime ? state.used[index] : nil, refused: state.refused[index])
    }
  }
}
