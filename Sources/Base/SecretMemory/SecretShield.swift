import Synchronization

/// Encrypts secrets that rest outside of the arena, under a key that lies in it and ends with the process.
package protocol SecretShield: AnyObject, Sendable {
  /// Encrypts bytes; the result is no secret.
  func close(_ bytes: Span<UInt8>) -> [UInt8]
  /// Decrypts what ``close(_:)`` gave.
  ///
  /// - Parameters:
  ///   - box: what it gave.
  ///   - output: as long as what was encrypted.
  /// - Returns: whether it is what was encrypted, unchanged.
  func open(_ box: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Bool
}

/// The source from which a resting secret is opened, each time that it is read.
package protocol RestingSource: AnyObject, Sendable {
  /// Writes the secret.
  ///
  /// - Parameter output: as long as the secret.
  /// - Returns: whether it is what was put to rest, unchanged.
  func open(into output: inout MutableSpan<UInt8>) -> Bool
}

extension Secret {
  /// The longest secret that rests: the longest token that is taken from a reply.
  package static let longestResting = 64 << 10

  private static let shield = Mutex<(any SecretShield)?>(nil)

  /// Lets secrets of this process rest from now on; a second shield changes nothing, since what rests needs the first.
  package static func use(_ shield: any SecretShield) {
    Self.shield.withLock { if $0 == nil { $0 = shield } }
  }

  /// The same secret outside of the arena, encrypted: for what is kept by the thousand and seldom read.
  ///
  /// Each reading decrypts it into locked memory for the time of the call, some microseconds for a token. The secret
  /// itself where no shield was given, where it is too long, or where there is no memory to open it in.
  package func resting() -> Secret {
    guard let shield = Self.shield.withLock({ $0 }), let resting = rest(under: shield) else { return self }
    return resting
  }

  private func rest(under shield: any SecretShield) -> Secret? {
    guard isInArena, (1...Self.longestResting).contains(byteCount), SecretArena.openings.usage.capacity > 0 else {
      return nil
    }
    return Secret(resting: ShieldedBox(box: withBytes { shield.close($0) }, shield: shield), byteCount: byteCount)
  }

  /// A secret that rests somewhere already, such as in what was read from a disk; nil where it is too long, or where there
  /// is no memory to open it in.
  package init?(resting source: any RestingSource, byteCount: Int) {
    guard (1...Self.longestResting).contains(byteCount), SecretArena.openings.usage.capacity > 0 else { return nil }
    self.init(resting: RestingSecret(source, byteCount: byteCount))
  }

  /// Opens something of which a secret that rests is a part, for the time of a reading.
  ///
  /// - Parameters:
  ///   - byteCount: at most ``longestResting``.
  ///   - fill: writes it.
  /// - Returns: what was opened, in the arena of what is being read.
  package static func opening(byteCount: Int, _ fill: (inout MutableSpan<UInt8>) -> Void) -> Secret {
    let slot = SecretSlot.forOpening(byteCount: byteCount)
    slot.fill(fill)
    return Secret(slot)
  }
}

/// A secret that a shield has encrypted.
private final class ShieldedBox: RestingSource {
  private let box: [UInt8]
  private let shield: any SecretShield

  init(box: [UInt8], shield: any SecretShield) {
    self.box = box
    self.shield = shield
  }

  func open(into output: inout MutableSpan<UInt8>) -> Bool {
    let box = box
    return shield.open(box.span, into: &output)
  }
}

/// An encrypted secret in ordinary memory.
final class RestingSecret: Sendable {
  /// How many bytes the secret has.
  let byteCount: Int
  private let source: any RestingSource

  /// A secret of so many bytes, at most ``Secret/longestResting``.
  init(_ source: any RestingSource, byteCount: Int) {
    self.source = source
    self.byteCount = byteCount
  }

  /// Lends the bytes for reading; they are wiped when the call returns.
  func read<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    let slot = SecretSlot.forOpening(byteCount: byteCount)
    var isUnchanged = false
    slot.fill { output in isUnchanged = source.open(into: &output) }
    // Only a write by our own code to memory that is not its own can have changed it.
    precondition(isUnchanged, "what rests in memory opens")
    return try slot.read(body)
  }
}

extension SecretSlot {
  /// A block to open something in: there are several times as many as threads that read at once, so none waits in
  /// practice.
  fileprivate static func forOpening(byteCount: Int) -> SecretSlot {
    while true {
      if let slot = try? SecretSlot(byteCount: byteCount, in: .openings) { return slot }
    }
  }
}
