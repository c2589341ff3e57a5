/// Base64 (RFC 4648), without a branch or a table that depends on what is encoded: it is mostly a secret.
package enum Base64 {
  /// An alphabet and its padding.
  package enum Form: Sendable {
    /// With `+`, `/` and padding (RFC 4648, section 4).
    case padded
    /// With `-` and `_`, without padding (RFC 4648, section 5): the base64url of JOSE.
    case url

    /// How far the characters of the values 62 and 63 are from the digits' row, and from each other's.
    fileprivate var lastSteps: (Int32, Int32) {
      switch self {
      case .padded: (15, 3)
      case .url: (13, 49)
      }
    }
  }

  // MARK: Encoding

  /// How many characters so many bytes become.
  package static func characterCount(of byteCount: Int, as form: Form) -> Int {
    switch form {
    case .padded: (byteCount + 2) / 3 * 4
    case .url: (byteCount * 4 + 2) / 3
    }
  }

  /// The characters of some bytes, in ASCII.
  package static func encode(_ bytes: Span<UInt8>, as form: Form) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(characterCount(of: bytes.count, as: form))
    append(bytes, as: form, to: &text)
    return text
  }

  /// Appends the characters of some bytes, which may be a secret: `text` has room for them, so that it is not moved.
  package static func append(_ bytes: Span<UInt8>, as form: Form, to text: inout [UInt8]) {
    let steps = form.lastSteps
    var index = 0
    while index + 3 <= bytes.count {
      let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
      append(group, count: 4, steps, to: &text)
      index += 3
    }
    guard index < bytes.count else { return }
    let hasTwo = bytes.count - index == 2
    append(
      UInt32(bytes[index]) << 16 | (hasTwo ? UInt32(bytes[index + 1]) << 8 : 0), count: hasTwo ? 3 : 2, steps, to: &text
    )
    if form == .padded { for _ in 0..<(hasTwo ? 1 : 2) { text.append(UInt8(ascii: "=")) } }
  }

  /// Appends the first characters of 24 bits.
  private static func append(_ group: UInt32, count: Int, _ steps: (Int32, Int32), to text: inout [UInt8]) {
    var (group, count) = (group, count)
    while count > 0 {
      text.append(character(of: Int32(group >> 18), steps))
      group = group << 6 & 0xFF_FFFF
      count -= 1
    }
  }

  // MARK: Decoding

  /// How many bytes so many characters of base64url stand for: three for four; of the rest, one for two and two for
  /// three.
  package static func byteCount(ofURLForm characterCount: Int) -> Int {
    characterCount / 4 * 3 + characterCount % 4 * 3 / 4
  }

  /// The bytes that characters of base64url stand for; nil for what ``encode(_:as:)`` does not make of any bytes.
  package static func decodeURLForm(_ text: Span<UInt8>) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: byteCount(ofURLForm: text.count))
    var output = bytes.mutableSpan
    return decodeURLForm(text, into: &output) ? bytes : nil
  }

  /// As ``decodeURLForm(_:)``, into memory of the caller's choice.
  ///
  /// - Parameters:
  ///   - text: the characters.
  ///   - output: of ``byteCount(ofURLForm:)`` bytes; what is in it after a refusal has no meaning.
  /// - Returns: whether it is what ``encode(_:as:)`` makes of some bytes.
  package static func decodeURLForm(_ text: Span<UInt8>, into output: inout MutableSpan<UInt8>) -> Bool {
    guard text.count % 4 != 1, output.count == byteCount(ofURLForm: text.count) else { return false }
    var isOfAlphabet: UInt8 = 1
    var (group, bits, written) = (UInt32(0), UInt32(0), 0)
    for index in text.indices {
      isOfAlphabet &= mark(text[index])
      (group, bits) = (group << 6 | UInt32(value(of: text[index])), bits + 6)
      guard bits >= 8 else { continue }
      bits -= 8
      output[written] = UInt8(truncatingIfNeeded: group >> bits)
      written += 1
    }
    // The bits of the last character that stand for no byte are 0.
    return isOfAlphabet == 1 && group & (1 << bits - 1) == 0
  }

  /// Whether ``decodeURLForm(_:)`` takes a text.
  package static func isURLForm(_ text: Span<UInt8>) -> Bool {
    guard text.count % 4 != 1 else { return false }
    // The span vouches for the pointer and its length, and outlives the call; without an index, whole words are
    // compared.
    let isOfAlphabet = unsafe text.withUnsafeBufferPointer { text in
      unsafe text.reduce(UInt8(1)) { $0 & mark($1) } == 1
    }
    guard isOfAlphabet else { return false }
    switch text.count % 4 {
    case 2: return value(of: text[text.count - 1]) & 0x0F == 0
    case 3: return value(of: text[text.count - 1]) & 0x03 == 0
    default: return true
    }
  }

  /// The bytes of a text in either form, for those who look into what others have encoded.
  ///
  /// - Parameter text: characters without white space; padding may be missing, and the last bits are not looked at.
  /// - Returns: bytes that the caller wipes; nil for a character of neither alphabet.
  package static func decodeAnyForm(_ text: Span<UInt8>) -> [UInt8]? {
    let padding = UInt8(ascii: "=")
    guard text.indices.allSatisfy({ mark(url(text[$0])) == 1 || text[$0] == padding }) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3 + 3)
    var (group, bits) = (UInt32(0), UInt32(0))
    for index in text.indices where text[index] != padding {
      (group, bits) = (group << 6 | UInt32(value(of: url(text[index]))), bits + 6)
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: group >> bits))
    }
    return bytes
  }

  // MARK: Characters

  /// The character of six bits: each row of the alphabet begins so far from where the one before would go on.
  private static func character(of value: Int32, _ steps: (Int32, Int32)) -> UInt8 {
    var code = value &+ 0x41
    code &+= (25 &- value) >> 8 & 6
    code &-= (51 &- value) >> 8 & 75
    code &-= (61 &- value) >> 8 & steps.0
    code &+= (62 &- value) >> 8 & steps.1
    return UInt8(truncatingIfNeeded: code)
  }

  /// The character of base64url that stands for the same as one of the other alphabet.
  private static func url(_ character: UInt8) -> UInt8 {
    character &+ isIn(character, 0x2B, count: 1) &* 2 &+ isIn(character, 0x2F, count: 1) &* 0x30
  }

  /// 1 for a character of base64url, else 0.
  private static func mark(_ character: UInt8) -> UInt8 {
    isIn(character, 0x41, count: 26) | isIn(character, 0x61, count: 26) | isIn(character, 0x30, count: 10)
      | isIn(character, 0x2D, count: 1) | isIn(character, 0x5F, count: 1)
  }

  /// The value of a character of base64url.
  private static func value(of character: UInt8) -> UInt8 {
    isIn(character, 0x41, count: 26) &* (character &- 0x41)
      | isIn(character, 0x61, count: 26) &* (character &- 0x61 &+ 26)
      | isIn(character, 0x30, count: 10) &* (character &- 0x30 &+ 52) | isIn(character, 0x2D, count: 1) &* 62
      | isIn(character, 0x5F, count: 1) &* 63
  }

  /// 1 for a byte of a range, else 0.
  private static func isIn(_ byte: UInt8, _ first: UInt8, count: UInt8) -> UInt8 {
    byte &- first < count ? 1 : 0
  }
}
