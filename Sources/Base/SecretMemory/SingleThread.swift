// In Embedded Swift, in which only the client program is compiled, one thread does everything and there are no tasks.
// What guards the arena against the others has the same names here.
#if hasFeature(Embedded)
/// A value that no other thread can see.
final class Mutex<Value>: @unchecked Sendable {
  private var value: Value

  /// Takes the value.
  init(_ value: Value) { self.value = value }

  /// Lends the value.
  ///
  /// - Throws: what `body` throws.
  func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R { try body(&value) }
}

/// A task that waits for room: there is none.
struct RoomWaiter: Sendable {
  /// Goes on.
  func resume() {}
}

extension SecretScope {
  /// The scope of everything.
  static var current: SecretScope { SecretScope() }
}
#endif
