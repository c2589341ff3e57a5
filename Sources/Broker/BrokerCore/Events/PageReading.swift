/// A page of kept events that is wanted.
struct PageReading: Sendable {
  /// What it is for.
  enum Purpose: Sendable {
    /// A subscription begins with it.
    case beginning(SubscriptionStart)
    /// A subscription of this name goes on with it.
    case replay(String)
  }

  /// The connection.
  let client: ClientID
  /// The sequence that it begins behind.
  let after: UInt64
  /// The last sequence that is wanted.
  let through: UInt64
  /// What it is for.
  let purpose: Purpose

  /// Whether events wait in memory for this page.
  var holdsEvents: Bool {
    if case .beginning(let start) = purpose { !start.events.isEmpty } else { false }
  }
}
