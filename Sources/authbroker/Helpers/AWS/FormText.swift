/// Text in a form (application/x-www-form-urlencoded), with every byte escaped that might mean something.
enum FormText {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Whether a byte stands for itself everywhere (RFC 3986, section 2.3).
  static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// Appends a byte: at most three, for which the caller has made room if the text is a secret.
  static func append(_ byte: UInt8, to text: inout [UInt8]) {
    guard !isUnreserved(byte) else { return text.append(byte) }
    text.append(UInt8(ascii: "%"))
    text.append(digits[Int(byte >> 4)])
    text.append(digits[Int(byte & 15)])
  }

  /// A text that is no secret.
  static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 { append(byte, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
