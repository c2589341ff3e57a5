import HTTPMessage

/// A field of a request's header that the caller adds, such as `Accept`.
///
/// It cannot end its line early and smuggle in another (as in CVE-2022-3918), and it cannot be a field that this module
/// sets or that changes the server or the credentials.
package struct HTTPField: Sendable, Equatable {
  /// The most fields that a request may have: as many as a door takes.
  static let most = 100
  /// The longest value, in bytes: a list of many languages and types fits.
  static let longestValue = 2048
  // Names that are set elsewhere (credentials by a transport, the type by the body) or by libcurl; its own name for the program
  // gives way to another.
  private static let reserved: Set<String> = [
    "accept-encoding", "authorization", "connection", "content-length", "content-type", "cookie", "expect", "host",
    "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// The name, as written.
  package let name: String
  /// The value.
  package let value: String

  /// Checks a field.
  ///
  /// - Parameters:
  ///   - name: a token (RFC 9110, section 5.6.2) that is not reserved.
  ///   - value: visible ASCII and single spaces between; not empty.
  /// - Throws: `HTTPFailure.invalidField`.
  package init(_ name: String, _ value: String) throws(HTTPFailure) {
    guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(HTTPToken.isToken),
      !Self.reserved.contains(name.lowercased()), Self.isValue(value)
    else { throw .invalidField }
    self.name = name
    self.value = value
  }

  /// A field of another program's request that is passed on: it may say which encodings that program understands, and is as long
  /// as servers take.
  ///
  /// - Throws: `HTTPFailure.invalidField`.
  package init(forwarding name: String, _ value: String) throws(HTTPFailure) {
    let isFree = !Self.reserved.contains(name.lowercased()) || name.lowercased() == "accept-encoding"
    guard (1...256).contains(name.utf8.count), name.utf8.allSatisfy(HTTPToken.isToken), isFree,
      (1...Self.longestForwarded).contains(value.utf8.count),
      value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 })
    else { throw .invalidField }
    self.name = name
    self.value = value
  }

  /// The longest value that is passed on.
  private static let longestForwarded = 16_384

  /// Whether a string can be the value of a field.
  static func isValue(_ value: String) -> Bool {
    (1...longestValue).contains(value.utf8.count) && value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
      && value.utf8.first != 0x20 && value.utf8.last != 0x20
  }
}
