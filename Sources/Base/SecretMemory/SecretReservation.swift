/// Room of an arena that is set aside for secrets which are still to come, such as the tokens of a reply.
///
/// It is taken before something is done that cannot be undone, so that what comes of it can be kept. Blocks that were not
/// used go back when the last reference is gone.
package final class SecretReservation: Sendable {
  /// The arena of the reserved block.
  package let arena: SecretArena
  private let number: UInt64

  /// Sets room aside.
  ///
  /// - Parameters:
  ///   - byteCounts: how long each of the secrets may be.
  ///   - arena: where; the present scope's by default.
  /// - Throws: `SecretMemoryExhausted` where there is no room for all of them; nothing is set aside then.
  package init(forByteCounts byteCounts: [Int], in arena: SecretArena? = nil) throws(SecretMemoryExhausted) {
    self.arena = arena ?? SecretScope.current.place
    number = try self.arena.reserve(byteCounts.map(BuddyAllocator.order(forByteCount:)))
  }

  deinit { arena.endReservation(number) }

  /// Names it to its arena.
  var name: UInt64 { number }
}
