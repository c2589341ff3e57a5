/// The arena for the secrets that the present task makes, and the memory reserved for them.
///
/// A JSON reader or a decoder that makes a secret need not know for whom it does so: its caller does, and says it once
/// for everything that is made during the call.
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

  /// The arena of a secret of this scope.
  var place: SecretArena { arena ?? .shared }

  /// The same scope in another arena.
  func moved(to arena: SecretArena) -> SecretScope { SecretScope(arena: arena, reservation: reservation) }
}
