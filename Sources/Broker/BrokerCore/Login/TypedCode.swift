package import SecretMemory

/// A one-time code or a backup code as a person types it, and as a provider knows it.
///
/// People copy codes in groups: `123 456`, `123-456`, with the blanks and dashes of a text processor. Providers compare bytes.
package enum TypedCode {
  /// The handling of dashes.
  package enum Dashes: Sendable {
    /// It is only there for the eye.
    case removed
    /// It may be part of the code: every kind of dash becomes the one of ASCII.
    case kept
  }

  /// The code without blanks, and with dashes as the provider has them.
  ///
  /// Only blanks and dashes are changed: a string that cannot be a code stays so. The bytes never leave the locked
  /// memory but for one copy, which is wiped.
  package static func normalized(_ typed: Secret, _ dashes: Dashes = .removed) throws(SecretMemoryExhausted) -> Secret {
    var bytes: [UInt8] = []
    // Never more than was typed, so that the buffer does not move and leave a copy behind.
    bytes.reserveCapacity(typed.byteCount)
    typed.withBytes { append($0, dashes, to: &bytes) }
    guard bytes.count < typed.byteCount else {
      wipe(&bytes)
      return typed
    }
    return try Secret(wiping: &bytes)
  }

  private static func append(_ typed: Span<UInt8>, _ dashes: Dashes, to bytes: inout [UInt8]) {
    var index = 0
    while index < typed.count {
      let (kind, length) = character(at: index, typed)
      switch kind {
      case .blank: break
      case .dash: if dashes == .kept { bytes.append(UInt8(ascii: "-")) }
      case .other: for position in index..<(index + length) { bytes.append(typed[position]) }
      }
      index += length
    }
  }

  private enum Kind { case blank, dash, other }

  /// Classifies the character that begins at a byte, with its length in bytes; any other byte is left as it is.
  private static func character(at index: Int, _ text: Span<UInt8>) -> (Kind, length: Int) {
    switch text[index] {
    case 0x20, 0x09...0x0D: return (.blank, 1)
    case UInt8(ascii: "-"): return (.dash, 1)
    case 0xC2 where index + 1 < text.count:
      switch text[index + 1] {
      // NEXT LINE, NO-BREAK SPACE.
      case 0x85, 0xA0: return (.blank, 2)
      // SOFT HYPHEN.
      case 0xAD: return (.dash, 2)
      default: return (.other, 1)
      }
    case 0xE1...0xEF where index + 2 < text.count:
      let (first, second, third) = (UInt32(text[index]), UInt32(text[index + 1]), UInt32(text[index + 2]))
      return (kind(ofThreeBytes: (first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F), 3)
    default: return (.other, 1)
    }
  }

  /// The white space (Unicode `White_Space`, and those of no width) and the dashes (`Dash`) that take three bytes in UTF-8.
  private static func kind(ofThreeBytes scalar: UInt32) -> Kind {
    switch scalar {
    case 0x1680, 0x180E, 0x2000...0x200F, 0x2028...0x202F, 0x205F...0x2060, 0x3000, 0xFEFF: .blank
    case 0x2010...0x2015, 0x2043, 0x207B, 0x208B, 0x2212, 0x2E3A...0x2E3B, 0x30FC, 0xFE58, 0xFE63, 0xFF0D: .dash
    default: .other
    }
  }
}
