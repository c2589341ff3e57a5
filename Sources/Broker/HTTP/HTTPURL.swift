import TextCoding

/// The address of something on a server that may be called: `https`, or `http` on this very machine.
///
/// It is checked when it is made, more strictly than RFC 3986 asks, so that no later reader (libcurl, a proxy, a
/// server) can take it for something else: no user information, no fragment, nothing but visible ASCII, and a server
/// that only one can be meant by (``TextCoding/ServerAddress``).
package struct HTTPURL: Sendable {
  /// The scheme.
  package enum Scheme: String, Sendable {
    /// Over TLS.
    case https
    /// In the clear, to this machine only.
    case http

    /// The port where none is named.
    fileprivate var port: Int { self == .https ? 443 : 80 }
  }

  /// The longest URL: the least that RFC 9110, section 4.1, recommends everybody to understand.
  static let longest = 8000

  /// The scheme.
  package let scheme: Scheme
  /// The server's name or address in lower case; an IPv6 address in its brackets.
  package let host: String
  /// The server's port.
  package let port: Int
  /// Scheme, host and port, the port only where it is not the scheme's own: what may be logged.
  package let origin: String
  /// Path and query, with the slash that they begin with.
  ///
  /// The query may be secret: it is for the server only.
  package let target: String
  /// The address as it was written, without its query: what a proof names (RFC 9449, section 4.2, `htu`).
  package let written: String

  /// Reads a URL.
  ///
  /// - Throws: `HTTPFailure.invalidURL`, whatever is wrong with it.
  package init(_ text: String) throws(HTTPFailure) {
    // From here on a character is a byte.
    guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .invalidURL
    }
    guard let parts = AddressParts(text), let scheme = Scheme(rawValue: parts.scheme), parts.user == nil,
      let server = parts.server, scheme == .https || server.isLoopback
    else { throw .invalidURL }
    let target = parts.rest.utf8.first == UInt8(ascii: "/") ? String(parts.rest) : "/" + parts.rest
    guard Self.isTarget(target) else { throw .invalidURL }
    let port = server.port ?? scheme.port
    let origin = "\(scheme.rawValue)://\(server.host)" + (port == scheme.port ? "" : ":\(port)")
    self.init(
      scheme: scheme, host: server.host, port: port, target: target, origin: origin,
      written: String(text.prefix { $0 != "?" }))
  }

  private init(scheme: Scheme, host: String, port: Int, target: String, origin: String, written: String) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.target = target
    self.origin = origin
    self.written = written
  }

  /// The address below this one: `https://example.com/api` and `/auth/login` make `https://example.com/api/auth/login`.
  ///
  /// - Parameter path: one slash is put between the two, however many they have there; may have a query.
  /// - Returns: an address on the same server.
  /// - Throws: `HTTPFailure.invalidURL` when this one has a query, or `path` cannot stand in a URL.
  package func appending(path: String) throws(HTTPFailure) -> HTTPURL {
    let slash = UInt8(ascii: "/")
    guard canAppend(path: path) else { throw .invalidURL }
    var target = self.target
    if target.utf8.last == slash { target.removeLast() }
    if path.utf8.first != slash { target.append("/") }
    target += path
    var written = written
    if written.utf8.last == slash { written.removeLast() }
    written += (path.utf8.first == slash ? "" : "/") + path.prefix { $0 != "?" }
    return HTTPURL(scheme: scheme, host: host, port: port, target: target, origin: origin, written: written)
  }

  /// Another address on the same server.
  ///
  /// - Parameter target: path and query, with the slash that they begin with.
  /// - Returns: the address.
  /// - Throws: `HTTPFailure.invalidURL`, as ``init(_:)`` does for the text of both.
  package func at(target: String) throws(HTTPFailure) -> HTTPURL {
    guard target.utf8.first == UInt8(ascii: "/"), origin.utf8.count + target.utf8.count <= Self.longest,
      Self.isTarget(target)
    else { throw .invalidURL }
    return HTTPURL(
      scheme: scheme, host: host, port: port, target: target, origin: origin,
      written: origin + target.prefix { $0 != "?" })
  }

  /// Whether ``appending(path:)`` makes an address of a path, without making it.
  package func canAppend(path: String) -> Bool {
    let slash = UInt8(ascii: "/")
    let joint = (target.utf8.last == slash ? -1 : 0) + (path.utf8.first == slash ? 0 : 1)
    return !target.utf8.contains(UInt8(ascii: "?")) && Self.isTarget(path)
      && target.utf8.count + joint + path.utf8.count <= Self.longest
  }

  /// The whole of it, query included.
  var text: String { origin + target }

  private static func isTarget(_ target: String) -> Bool {
    // How many hexadecimal digits a percent sign still wants.
    var missing = 0
    for byte in target.utf8 {
      switch byte {
      case _ where missing > 0:
        guard PercentEncoding.value(ofDigit: byte) != nil else { return false }
        missing -= 1
      case UInt8(ascii: "%"): missing = 2
      case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
        UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"), UInt8(ascii: "#"):
        return false
      default: guard (0x21...0x7E).contains(byte) else { return false }
      }
    }
    return missing == 0
  }
}

/// Two addresses are the same where they mean the same, however they are written.
extension HTTPURL: Hashable {
  package static func == (left: HTTPURL, right: HTTPURL) -> Bool {
    left.scheme == right.scheme && left.host == right.host && left.port == right.port && left.target == right.target
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(scheme)
    hasher.combine(host)
    hasher.combine(port)
    hasher.combine(target)
  }
}

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The origin alone: path and query may hold what must not be logged.
  package var description: String { origin }

  /// The same as `description`.
  package var debugDescription: String { origin }

  /// Shows no part but the origin.
  package var customMirror: Mirror { Mirror(self, children: ["origin": origin]) }
}
