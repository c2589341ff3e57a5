/// The characters that messages are made of (RFC 9110, section 5).
package enum HTTPToken {
  /// Whether a byte can stand in a token: a method, or a field's name (section 5.6.2).
  package static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  /// Whether a byte can stand in a field's value: no control character but a tab (section 5.5).
  static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }

  /// Whether a byte is a blank between words (section 5.6.3).
  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// A byte with its letter in lower case.
  package static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
