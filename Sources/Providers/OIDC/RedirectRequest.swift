import HTTPMessage
import TextCoding

/// A browser's request to the loopback address.
///
/// Only the head is read; a body means nothing here. The bytes hold the login's code, so they are wiped when the reader
/// is dropped.
struct RedirectRequest {
  /// The longest head: browsers send a few KiB, however long the provider's code is.
  static let longestHead = 16 * 1024

  private var head = RequestHead(longest: longestHead)

  /// The request's method.
  var method: String { head.method }
  /// The `Host`.
  var host: String { String(decoding: head.value(of: "host") ?? [], as: UTF8.self).lowercased() }
  /// The path, as it was sent.
  var path: String { String(decoding: head.target.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self) }

  /// Reads further bytes.
  mutating func read(_ more: Span<UInt8>) -> RequestHead.Progress {
    let progress = head.read(more)
    // A browser sends no other form to a server (RFC 9112, section 3.2.1).
    guard case .complete = progress, head.target.first != UInt8(ascii: "/") else { return progress }
    return .refused(status: 400)
  }

  /// The values of the query, as ``values(of:)`` says.
  func values() -> [String: [UInt8]]? { Self.values(of: head.target.drop { $0 != UInt8(ascii: "?") }.dropFirst()) }

  /// The parameters of an answer that are read (RFC 6749, section 4.1.2; RFC 9207).
  private static let names: Set = ["code", "state", "iss", "error"]

  /// The values of a query that are read; nil where one is malformed or there twice (RFC 6749, section 3.1).
  ///
  /// A server may repeat others, as `scope` once for each. Each value is the caller's to wipe.
  static func values(of query: ArraySlice<UInt8>) -> [String: [UInt8]]? {
    var values: [String: [UInt8]] = [:]
    for pair in query.split(separator: UInt8(ascii: "&")) {
      let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      guard let bytes = PercentEncoding.decoded(pair[..<equals], as: .form) else { continue }
      let name = String(decoding: bytes, as: UTF8.self)
      guard names.contains(name) else { continue }
      guard let value = PercentEncoding.decoded(pair[equals...].dropFirst(), as: .form),
        values.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    return values
  }

  /// Wipes the read bytes.
  mutating func wipe() { head.wipe() }
}
