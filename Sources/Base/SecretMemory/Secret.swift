import CLinux

/// A handle to bytes that must not leak: a password, a token, a key.
///
/// The bytes lie in the locked arena (`SecretArena`), or encrypted outside of it (``resting()``), and are wiped when the
/// last copy of the handle is gone; copying copies the handle. They are lent in a scope by ``withBytes(_:)``, never
/// converted on the way: a `Secret` is not `Codable`, prints `<redacted>` wherever it is printed, interpolated, dumped or
/// reflected, and compares in constant time.
public struct Secret: Sendable {
  /// The place of the bytes.
  private enum Place: Sendable {
    /// Nowhere: there are none.
    case nowhere
    /// In an arena.
    case arena(SecretSlot)
    /// In ordinary memory, encrypted.
    case resting(RestingSecret)
  }

  private let place: Place

  /// A secret of no bytes, which takes no room of an arena: what a reader begins with.
  public static let empty = Secret(place: .nowhere)

  private init(place: Place) { self.place = place }

  /// A secret that rests.
  init(resting: RestingSecret) { place = .resting(resting) }

  /// A secret that is complete in a block of an arena.
  init(_ slot: SecretSlot) { place = .arena(slot) }

  /// Whether it lies in an arena.
  package var isInArena: Bool { if case .arena = place { true } else { false } }

  /// Copies bytes into the arena.
  ///
  /// The source keeps its bytes: wipe it where it is yours.
  ///
  /// - Throws: `SecretMemoryExhausted` when the arena is full.
  public init(copying bytes: Span<UInt8>) throws(SecretMemoryExhausted) {
    try self.init(copying: bytes, SecretScope.current)
  }

  /// Moves bytes into the arena: copies them and zeroes the array in place.
  ///
  /// - Parameter bytes: zeroed (see ``wipe(_:)``) in every case, also when the arena is full.
  /// - Throws: `SecretMemoryExhausted` when the arena is full; the bytes are lost then.
  public init(wiping bytes: inout [UInt8]) throws(SecretMemoryExhausted) {
    defer { wipe(&bytes) }
    try self.init(copying: bytes.span, SecretScope.current)
  }

  /// As ``init(wiping:)``, in an arena of the caller's choice.
  package init(wiping bytes: inout [UInt8], in arena: SecretArena) throws(SecretMemoryExhausted) {
    defer { wipe(&bytes) }
    try self.init(copying: bytes.span, SecretScope.current.moved(to: arena))
  }

  /// Copies the UTF-8 of a string into the arena.
  ///
  /// The string itself cannot be wiped: its bytes stay wherever the runtime put them. So only for strings that are no
  /// secret yet or never were one, such as what a user's own program already holds.
  ///
  /// - Throws: `SecretMemoryExhausted` when the arena is full.
  public init(utf8 string: String) throws(SecretMemoryExhausted) {
    let utf8 = string.utf8
    try self.init(copying: utf8.span, SecretScope.current)
  }

  /// Lets a closure write the secret directly into the arena, so that no other copy comes to be.
  ///
  /// - Parameters:
  ///   - byteCount: the length, not negative.
  ///   - body: gets `byteCount` zero bytes.
  /// - Throws: `SecretMemoryExhausted` when the arena is full; `body` was not called then.
  public init(
    byteCount: Int, initializingWith body: (inout MutableSpan<UInt8>) -> Void
  ) throws(SecretMemoryExhausted) {
    let slot = try SecretSlot(byteCount: byteCount, SecretScope.current)
    slot.fill(body)
    place = .arena(slot)
  }

  /// Lets a closure that can fail write the secret directly into the arena.
  ///
  /// - Parameters:
  ///   - byteCount: the length, not negative.
  ///   - body: gets `byteCount` zero bytes; when it throws, what it wrote is wiped.
  /// - Throws: `SecretInitializationFailure`, which says whether the arena or the closure failed.
  public init<E: Error>(
    byteCount: Int, initializingWith body: (inout MutableSpan<UInt8>) throws(E) -> Void
  ) throws(SecretInitializationFailure<E>) {
    let slot: SecretSlot
    do { slot = try SecretSlot(byteCount: byteCount, SecretScope.current) } catch { throw .exhausted }
    do { try slot.fill(body) } catch { throw .body(error) }
    place = .arena(slot)
  }

  /// As the public initializer, in an arena of the caller's choice: how tests fill one up.
  package init(copying bytes: Span<UInt8>, in arena: SecretArena) throws(SecretMemoryExhausted) {
    try self.init(copying: bytes, SecretScope(arena: arena))
  }

  private init(copying bytes: Span<UInt8>, _ scope: SecretScope) throws(SecretMemoryExhausted) {
    let slot = try SecretSlot(byteCount: bytes.count, scope)
    slot.fill { target in
      for index in bytes.indices { target[index] = bytes[index] }
    }
    place = .arena(slot)
  }

  /// As the public initializer, in an arena of the caller's choice.
  package init(
    byteCount: Int, in arena: SecretArena, initializingWith body: (inout MutableSpan<UInt8>) -> Void
  ) throws(SecretMemoryExhausted) {
    let slot = try SecretSlot(byteCount: byteCount, in: arena)
    slot.fill(body)
    place = .arena(slot)
  }

  /// How many bytes the secret has; the length is not treated as secret.
  public var byteCount: Int {
    switch place {
    case .nowhere: 0
    case .arena(let slot): slot.byteCount
    case .resting(let secret): secret.byteCount
    }
  }

  /// How much of its arena the secret takes; 0 where it lies in none.
  package var blockByteCount: Int { if case .arena(let slot) = place { slot.blockByteCount } else { 0 } }

  /// The offset of the bytes in their arena: a test finds them by it after the release.
  package var arenaOffset: Int { if case .arena(let slot) = place { slot.offset } else { 0 } }

  /// Lends the bytes for the length of a call.
  ///
  /// What the closure copies out is the caller's to wipe.
  ///
  /// - Throws: what `body` throws.
  public func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    switch place {
    case .nowhere: return try body(Span())
    case .arena(let slot): return try slot.read(body)
    case .resting(let secret): return try secret.read(body)
    }
  }

  /// Copies the bytes to the beginning of memory that has room for them: as ``withBytes(_:)`` lends them, without a
  /// closure, for what is asked for again and again.
  ///
  /// The copy is the caller's to wipe.
  package func copy(to target: UnsafeMutableRawBufferPointer) {
    switch place {
    case .nowhere: break
    case .arena(let slot): unsafe slot.copy(to: target)
    case .resting(let secret):
      secret.read { bytes in
        // There is room for the bytes, as is checked, and they are valid inside the closure.
        unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
      }
    }
  }

  /// The secret as a string, which can never be wiped.
  ///
  /// Right in one place: at the end of a program's own use of a secret, where an interface takes nothing but a string
  /// (a client program that prints a token, or hands it to an HTTP library). Wrong everywhere else.
  ///
  /// - Returns: `nil` when the bytes are not UTF-8.
  public func revealedString() -> String? {
    withBytes { bytes in
      // The span vouches for the length, and the string copies the bytes.
      unsafe bytes.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) }
    }
  }
}

extension Secret: Equatable {
  /// Compares in constant time: how long it takes depends on the lengths only.
  public static func == (left: Secret, right: Secret) -> Bool { right.withBytes { left.isEqual(to: $0) } }

  /// Compares with bytes that need not be a secret, in the same way.
  package func isEqual(to bytes: Span<UInt8>) -> Bool {
    guard byteCount == bytes.count else { return false }
    return withBytes { own in
      // Both ranges have the length that was compared above, and live until the closures return.
      unsafe own.withUnsafeBytes { a in
        // As above.
        unsafe bytes.withUnsafeBytes { b in
          // As above.
          unsafe clinux_equal_in_constant_time(a.baseAddress, b.baseAddress, a.count) != 0
        }
      }
    }
  }
}
