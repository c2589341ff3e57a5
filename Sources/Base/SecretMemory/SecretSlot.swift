/// The owner of one block of the arena: wipes it and releases it when the last handle is gone.
final class SecretSlot: Sendable {
  /// The arena of the block; kept alive by its slots.
  let arena: SecretArena
  /// The offset of the block in the arena.
  let offset: Int
  /// How many bytes the secret has; the block may be larger.
  let byteCount: Int
  private let order: Int

  /// How many bytes the block has.
  var blockByteCount: Int { BuddyAllocator.smallestBlock << order }

  /// Takes a zeroed block.
  ///
  /// - Throws: `SecretMemoryExhausted` when the arena has no block that is large enough.
  convenience init(byteCount: Int, in arena: SecretArena) throws(SecretMemoryExhausted) {
    try self.init(byteCount: byteCount, SecretScope(arena: arena))
  }

  /// Takes a zeroed block where a scope says.
  ///
  /// - Throws: `SecretMemoryExhausted` when the arena has no block that is large enough.
  init(byteCount: Int, _ scope: SecretScope) throws(SecretMemoryExhausted) {
    precondition(byteCount >= 0, "a secret has no negative length")
    let order = BuddyAllocator.order(forByteCount: byteCount)
    let arena = scope.place
    offset = try arena.allocate(order: order, from: scope.reservation)
    self.arena = arena
    self.byteCount = byteCount
    self.order = order
  }

  deinit {
    arena.release(offset: offset, order: order, writtenByteCount: byteCount)
  }

  /// Lends the bytes for writing.
  ///
  /// Only while the slot has one owner: before the `Secret` that holds it is complete.
  func fill<E: Error>(_ body: (inout MutableSpan<UInt8>) throws(E) -> Void) throws(E) {
    // `self` outlives the call (its caller holds it), and nothing else refers to the slot yet.
    let buffer = unsafe arena.bytes(offset: offset, byteCount: byteCount)
    // The span cannot outlive the closure.
    var span = unsafe buffer.mutableSpan
    defer { withExtendedLifetime(self) {} }
    try body(&span)
  }

  /// Copies the bytes to the beginning of memory that has room for them.
  @inline(__always)
  func copy(to target: UnsafeMutableRawBufferPointer) {
    precondition(target.count >= byteCount, "no room for a secret")
    defer { withExtendedLifetime(self) {} }
    // The slot is kept alive until the bytes are copied, for which there is room.
    unsafe target.copyMemory(from: UnsafeRawBufferPointer(arena.bytes(offset: offset, byteCount: byteCount)))
  }

  /// Lends the bytes for reading.
  func read<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    // The slot is kept alive until the closure has returned; nothing writes to a finished slot.
    let buffer = unsafe arena.bytes(offset: offset, byteCount: byteCount)
    defer { withExtendedLifetime(self) {} }
    // The span cannot outlive the closure.
    return try body(unsafe buffer.span)
  }
}
