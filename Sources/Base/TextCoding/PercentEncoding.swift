/// The percent-encoding of addresses and forms (RFC 3986, section 2.1).
package enum PercentEncoding {
  /// The form of encoding.
  package enum Form: Sendable {
    /// All but the unreserved characters encoded (RFC 3986, section 2.3): a segment of a path, a part of a query.
    case component
    /// As a form is sent (RFC 6749, appendix B): a space is `+`, the asterisk stays, the tilde does not.
    case form
  }

  /// Whether a byte stands for itself everywhere (RFC 3986, section 2.3).
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
  }

  /// A text that is no secret, with the characters of `kept` as they are beside the unreserved ones.
  package static func encoded(_ text: String, keeping kept: String = "") -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if kept.utf8.contains(byte) { bytes.append(byte) } else { append(byte, as: .component, to: &bytes) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a byte as at most three, for which the caller has made room if the text is a secret.
  package static func append(_ byte: UInt8, as form: Form, to text: inout [UInt8]) {
    switch (byte, form) {
    case (0x20, .form): text.append(UInt8(ascii: "+"))
    case (UInt8(ascii: "*"), .form): text.append(byte)
    case (UInt8(ascii: "~"), .form): appendEncoded(byte, to: &text)
    case _ where isUnreserved(byte): text.append(byte)
    default: appendEncoded(byte, to: &text)
    }
  }

  /// The bytes of a text; nil for a `%` without two digits.
  package static func decoded(_ text: some Collection<UInt8>, as form: Form) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = text.startIndex
    while index != text.endIndex {
      let byte = text[index]
      text.formIndex(after: &index)
      switch byte {
      case UInt8(ascii: "+") where form == .form: result.append(0x20)
      case UInt8(ascii: "%"):
        guard let high = digit(of: text, at: &index), let low = digit(of: text, at: &index) else { return nil }
        result.append(high << 4 | low)
      default: result.append(byte)
      }
    }
    return result
  }

  /// The value of a hexadecimal digit in either case; nil for what is none.
  package static func value(ofDigit byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x57
    default: nil
    }
  }

  private static func digit<Text: Collection<UInt8>>(of text: Text, at index: inout Text.Index) -> UInt8? {
    guard index != text.endIndex else { return nil }
    defer { text.formIndex(after: &index) }
    return value(ofDigit: text[index])
  }

  private static func appendEncoded(_ byte: UInt8, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "%"))
    text.append(character(byte >> 4))
    text.append(character(byte & 15))
  }

  private static func character(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x37 + digit }
}
