/// Names one connection, never used twice in a process.
package struct ClientID: Hashable, Sendable {
  /// The number behind the name.
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }
}
