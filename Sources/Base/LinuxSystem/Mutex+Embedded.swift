// In Embedded Swift, in which only the client program is compiled, Synchronization has no locks: one thread does everything.
#if hasFeature(Embedded)
/// A value that no other thread can see, by the name that Synchronization has for one that another thread can.
package final class Mutex<Value>: @unchecked Sendable {
  private var value: Value

  /// Takes the value.
  package init(_ value: Value) { self.value = value }

  /// Lends the value.
  ///
  /// - Throws: what `body` throws.
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R { try body(&value) }
}
#endif
