import BrokerProtocol

/// Decides when tokens are refreshed before a caller asks; the moment itself is ``RenewalTimes``'s.
///
/// A value: it does no I/O and reads no clock. Every event is legal in every state.
package struct RefreshSchedule: Sendable, Equatable {
  /// The state of the plan.
  package enum State: Sendable, Equatable {
    /// Nothing: there is nothing to refresh, or it never expires. Left by tokens for which a refresh can be planned.
    case off
    /// A refresh at a moment. Left by other tokens, by the end of the session, and when the moment comes and no client uses
    /// the session.
    case planned(Deadline)
    /// The moment has come, and no client used the session. Left by its next use, by other tokens, and by its end.
    case leftAlone(Deadline)
  }

  /// An event that drives the machine.
  package enum Event: Sendable, Equatable {
    /// The session has these tokens now, with the moment of their refresh already drawn; nil where none is planned.
    case tokensTaken(due: Deadline?)
    /// A client has used the session.
    case used
    /// Time has passed, or a clock was set.
    case woken(isInUse: Bool)
    /// There is no session any more.
    case ended
  }

  /// An action for the runner to carry out.
  package enum Action: Sendable, Equatable {
    /// Refresh now. Said at each wake-up until there are other tokens.
    case refresh
  }

  /// The present state.
  package private(set) var state: State = .off

  /// A schedule without a plan.
  package init() {}

  /// Handles an event, and returns the actions.
  package mutating func handle(_ event: Event, at now: Moment) -> [Action] {
    switch (event, state) {
    case (.tokensTaken(let due), _): state = due.map { .planned($0) } ?? .off
    case (.ended, _): state = .off
    case (.used, .leftAlone(let due)): state = .planned(due)
    case (.woken(let isInUse), .planned(let due)) where due.hasCome(at: now):
      if isInUse { return [.refresh] }
      state = .leftAlone(due)
    case (.used, _), (.woken, _): break
    }
    return []
  }

  /// The uptime at which it wants to be woken; nil where nothing is planned.
  package func nextWake(at now: Moment) -> Duration? {
    guard case .planned(let due) = state else { return nil }
    return due.comes(at: now)
  }
}
