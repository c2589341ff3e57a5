/// Where the secrets go that the present task makes, and what they may use.
///
/// What makes a secret (a JSON reader, a decoder) need not know for whom it does so: its caller does, and says it
/// once for everything that is made during the call.
package struct SecretScope: Sendable {
  /// The arena; nil means ``SecretArena/shared``.
  package var arena: SecretArena?
  /// Room that was set aside for them, and is used where the arena has no other.
  package var reservation: SecretReservation?

  /// A scope.
  package init(arena: SecretArena? = nil, reservation: SecretReservation? = nil) {
    self.arena = arena
    self.reservation = reservation
  }

  /// The scope of the present task.
  @TaskLocal package static var current = SecretScope()

  /// Where a secret of this scope lies.
  var place: SecretArena { arena ?? .shared }

  /// The same scope in another arena.
  func moved(to arena: SecretArena) -> SecretScope { SecretScope(arena: arena, reservation: reservation) }

  /// Runs a body in this scope; tasks that it begins are in it as well.
  ///
  /// - Throws: what `body` throws.
  package func run<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try Self.$current.withValue(self) { Result { () throws(E) -> R in try body() } }.get()
  }
}
