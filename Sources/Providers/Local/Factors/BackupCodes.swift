import BrokerCore
import Sealing
import SecretMemory

/// Backup codes: each answers one login in place of a one-time code, for a user who has lost the telephone.
///
/// A code has 49 random bits. It is stored as a keyed hash, which cannot be searched without the key.
enum BackupCodes {
  /// How many codes an account gets at once; older ones end.
  static let count = 10
  /// How many characters a code has, without its dash.
  static let characterCount = 10
  /// The position of the dash.
  private static let groupCount = 5

  /// Digits and small letters without 0, 1, i, l and o, which people confuse.
  private static let alphabet = "23456789abcdefghjkmnpqrstuvwxyz"

  /// Draws the codes of an account.
  ///
  /// - Returns: ``count`` codes in the form that is hashed and compared: ``characterCount`` small characters.
  /// - Throws: `SecretMemoryExhausted`.
  static func generate() throws(SecretMemoryExhausted) -> [Secret] {
    var codes: [Secret] = []
    for _ in 0..<count { codes.append(try randomCode()) }
    return codes
  }

  /// A code as it is shown, once: `xxxxx-xxxxx`.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  static func formatted(_ code: Secret) throws(SecretMemoryExhausted) -> Secret {
    try Secret(byteCount: code.byteCount + 1) { text in
      code.withBytes { code in
        text[groupCount] = UInt8(ascii: "-")
        for index in code.indices { text[index < groupCount ? index : index + 1] = code[index] }
      }
    }
  }

  /// A typed code in the form that is hashed and compared.
  ///
  /// Blanks and dashes of all kinds are left out (see `TypedCode`), capitals count as small letters.
  ///
  /// - Returns: nil for what cannot be a code, which is no guess.
  /// - Throws: `SecretMemoryExhausted`.
  static func normalized(_ typed: Secret) throws(SecretMemoryExhausted) -> Secret? {
    let code = try TypedCode.normalized(typed)
    guard code.byteCount == characterCount else { return nil }
    var isCode = true
    let small = try Secret(byteCount: characterCount) { text in
      code.withBytes { code in
        for index in code.indices {
          text[index] = (0x41...0x5A).contains(code[index]) ? code[index] | 0x20 : code[index]
          isCode = alphabet.utf8.contains(text[index]) && isCode
        }
      }
    }
    return isCode ? small : nil
  }

  /// Each character drawn by itself without bias.
  private static func randomCode() throws(SecretMemoryExhausted) -> Secret {
    let characters = alphabet.utf8.span
    return try Secret(byteCount: characterCount) { text in
      for index in text.indices {
        text[index] = characters[Int(RandomBytes.uniform(upperBound: UInt32(characters.count)))]
      }
    }
  }
}
