/// Some users, by their numbers.
package struct UserSet: Hashable, Sendable {
  /// The numbers, as ranges without an order.
  private let ranges: [ClosedRange<UInt32>]

  /// One user.
  package init(_ user: UInt32) { ranges = [user...user] }

  /// The users of these ranges.
  package init(_ ranges: [ClosedRange<UInt32>]) { self.ranges = ranges }

  /// Whether a user is one of them.
  package func contains(_ user: UInt32) -> Bool { ranges.contains { $0.contains(user) } }
}
