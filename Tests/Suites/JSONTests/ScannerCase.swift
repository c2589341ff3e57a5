import JSON
import Testing

/// A text and what a strict scanner says of it.
struct ScannerCase: Sendable, CustomTestStringConvertible {
  let bytes: [UInt8]
  let reason: JSONError.Reason?

  var testDescription: String {
    let shown = String(decoding: bytes.prefix(40), as: UTF8.self).debugDescription
    return "\(shown) → \(reason?.rawValue ?? "valid")"
  }

  static func valid(_ text: String) -> ScannerCase { ScannerCase(bytes: Array(text.utf8), reason: nil) }

  static func valid(bytes: [UInt8]) -> ScannerCase { ScannerCase(bytes: bytes, reason: nil) }

  static func invalid(_ text: String, _ reason: JSONError.Reason) -> ScannerCase {
    ScannerCase(bytes: Array(text.utf8), reason: reason)
  }

  /// A string value that holds these bytes between its quotes.
  static func invalid(string bytes: [UInt8], _ reason: JSONError.Reason = .invalidUTF8) -> ScannerCase {
    ScannerCase(bytes: [0x22] + bytes + [0x22], reason: reason)
  }

  static func invalid(bytes: [UInt8], _ reason: JSONError.Reason) -> ScannerCase {
    ScannerCase(bytes: bytes, reason: reason)
  }
}

extension JSONDocument {
  /// Parses the UTF-8 of a text.
  init(_ text: String) throws(JSONError) {
    try self.init(parsing: Array(text.utf8))
  }
}
