import SecretMemory

/// SHA-1 (RFC 3174), for the one-time codes of authenticator apps and nothing else.
///
/// Its collisions do no harm there: HMAC needs none to be hard to find (RFC 6194, section 3.3). libsodium has no SHA-1.
enum SHA1 {
  /// How many bytes a digest has.
  static let byteCount = 20
  /// How many bytes are hashed at a time.
  static let blockByteCount = 64

  /// The state before the first block (RFC 3174, section 6.1).
  private static let initialState: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]

  /// Hashes a message.
  ///
  /// What it works with is wiped, but for words that the compiler keeps in registers.
  ///
  /// - Parameter message: of any length.
  /// - Returns: the digest; the caller wipes it where the message is a secret.
  static func digest(of message: Span<UInt8>) -> [UInt8] {
    var state = [UInt8](repeating: 0, count: byteCount)
    for (index, word) in initialState.enumerated() { state.set(word, at: index) }
    var block = [UInt8](repeating: 0, count: blockByteCount)
    defer { wipe(&block) }
    let paddedCount = (message.count + 9 + blockByteCount - 1) / blockByteCount * blockByteCount
    for start in stride(from: 0, to: paddedCount, by: blockByteCount) {
      for index in block.indices { block[index] = paddedByte(at: start + index, message, paddedCount: paddedCount) }
      compress(&block, into: &state)
    }
    return state
  }

  /// A byte of the message with its padding: a one bit, zeros, and the message's length in bits (RFC 3174, section 4).
  private static func paddedByte(at index: Int, _ message: Span<UInt8>, paddedCount: Int) -> UInt8 {
    if index < message.count { return message[index] }
    if index == message.count { return 0x80 }
    let bitsBehind = 8 * (paddedCount - 1 - index)
    return bitsBehind < 64 ? UInt8(truncatingIfNeeded: (8 * UInt64(message.count)) >> UInt64(bitsBehind)) : 0
  }

  /// Takes a block into the state by the method that needs no room besides the block's own (RFC 3174, section 6.2).
  private static func compress(_ block: inout [UInt8], into state: inout [UInt8]) {
    var (a, b, c, d, e) = (state.word(0), state.word(1), state.word(2), state.word(3), state.word(4))
    for round in 0..<80 {
      if round >= 16 {
        let mixed =
          block.word((round + 13) & 15) ^ block.word((round + 8) & 15) ^ block.word((round + 2) & 15)
          ^ block.word(round & 15)
        block.set(mixed.rotatedLeft(1), at: round & 15)
      }
      let sum = a.rotatedLeft(5) &+ mix(round, b, c, d) &+ e &+ block.word(round & 15) &+ constant(round)
      (a, b, c, d, e) = (sum, a, b.rotatedLeft(30), c, d)
    }
    for (index, word) in [a, b, c, d, e].enumerated() { state.set(state.word(index) &+ word, at: index) }
  }

  /// The functions of RFC 3174, section 5.
  private static func mix(_ round: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32) -> UInt32 {
    switch round {
    case ..<20: (b & c) | (~b & d)
    case 40..<60: (b & c) | (b & d) | (c & d)
    default: b ^ c ^ d
    }
  }

  /// The constants of RFC 3174, section 5.
  private static func constant(_ round: Int) -> UInt32 {
    switch round {
    case ..<20: 0x5A82_7999
    case ..<40: 0x6ED9_EBA1
    case ..<60: 0x8F1B_BCDC
    default: 0xCA62_C1D6
    }
  }
}

extension [UInt8] {
  /// A word of four bytes, the most significant first.
  fileprivate func word(_ index: Int) -> UInt32 {
    let start = 4 * index
    return UInt32(self[start]) << 24 | UInt32(self[start + 1]) << 16 | UInt32(self[start + 2]) << 8
      | UInt32(self[start + 3])
  }

  fileprivate mutating func set(_ word: UInt32, at index: Int) {
    for byte in 0..<4 { self[4 * index + byte] = UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * byte)) }
  }
}

extension UInt32 {
  fileprivate func rotatedLeft(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}
