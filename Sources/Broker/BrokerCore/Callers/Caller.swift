/// Names one caller from its request until its answer.
///
/// Requests are numbered from 1 by the server that reads them; what the broker itself waits for is numbered from 2⁶³.
package struct CallerID: Hashable, Comparable, Sendable {
  /// The first number of the broker's own callers; clients' numbers are below.
  static let firstOwn: UInt64 = 1 << 63

  /// Never used twice in a process.
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  package static func < (one: CallerID, other: CallerID) -> Bool { one.number < other.number }
}

/// A caller that is answered with a value of one type.
package struct Caller<Value: Sendable>: Hashable, Sendable {
  /// Names the caller.
  package let id: CallerID
  /// The principal that sent the request.
  package let principal: Principal

  package init(_ id: CallerID, as principal: Principal) {
    self.id = id
    self.principal = principal
  }
}

/// When a method needs an open vault.
package enum VaultNeed: Sendable {
  /// Never.
  case never
  /// When it is called; it goes on although the vault is locked meanwhile.
  case atFirst
  /// Until it is answered: where the vault is locked by then, the answer is `vaultLocked`.
  case throughout
}
