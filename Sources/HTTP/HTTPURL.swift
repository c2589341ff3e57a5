import Glibc

/// The address of something on a server that may be called: `https`, or `http` on this very machine.
///
/// It is checked when it is made, more strictly than RFC 3986 asks, so that no later reader (libcurl, a proxy,
/// a server) can take it for something else: no user information, no fragment, nothing but visible ASCII, no host in a
/// disguise (`127.1`, `0x7f.0.0.1`), no international name that is not in its ASCII form.
package struct HTTPURL: Sendable, Hashable {
  /// How the server is spoken to.
  package enum Scheme: String, Sendable {
    /// Over TLS.
    case https
    /// In the clear, to this machine only.
    case http

    /// What stands before the host.
    fileprivate var mark: String { rawValue + "://" }
  }

  /// The longest URL: the least that RFC 9110, section 4.1, recommends everybody to understand.
  static let longest = 8000
  /// Who may be spoken to in the clear: addresses that never leave the machine, literally.
  static let loopback = ["127.0.0.1", "[::1]", "localhost"]

  /// How the server is spoken to.
  package let scheme: Scheme
  /// The server's name or address in lower case; an IPv6 address in its brackets.
  package let host: String
  /// The server's port.
  package let port: Int
  /// Path and query, with the slash that they begin with.
  ///
  /// The query may be secret: it is for the server only.
  package let target: String

  /// Reads a URL.
  ///
  /// - Throws: `HTTPFailure.invalidURL`, whatever is wrong with it.
  package init(_ text: String) throws(HTTPFailure) {
    // From here on a character is a byte.
    guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .invalidURL
    }
    let schemes: [Scheme] = [.https, .http]
    guard let scheme = schemes.first(where: { Self.begins(text.utf8, with: $0.mark.utf8) }) else { throw .invalidURL }
    let rest = text[text.utf8.index(text.startIndex, offsetBy: scheme.mark.utf8.count)...]
    let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
    let (host, port) = try Self.hostAndPort(rest[..<end])
    guard scheme == .https || Self.loopback.contains(host) else { throw .invalidURL }
    let isWhole = rest[end...].utf8.first == UInt8(ascii: "/")
    let target = isWhole ? String(rest[end...]) : "/" + rest[end...]
    guard Self.isTarget(target) else { throw .invalidURL }
    self.init(scheme: scheme, host: host, port: port ?? (scheme == .https ? 443 : 80), target: target)
  }

  private init(scheme: Scheme, host: String, port: Int, target: String) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.target = target
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
    return HTTPURL(scheme: scheme, host: host, port: port, target: target)
  }

  /// Whether ``appending(path:)`` makes an address of a path, without making it.
  package func canAppend(path: String) -> Bool {
    let slash = UInt8(ascii: "/")
    let joint = (target.utf8.last == slash ? -1 : 0) + (path.utf8.first == slash ? 0 : 1)
    return !target.utf8.contains(UInt8(ascii: "?")) && Self.isTarget(path)
      && target.utf8.count + joint + path.utf8.count <= Self.longest
  }

  /// A string as it can stand in a segment of a path, or in a query: all but RFC 3986's unreserved characters encoded.
  package static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      // A form's encoding differs in the space, and in the asterisk that it leaves alone and the tilde that it does not.
      switch byte {
      case UInt8(ascii: " "): bytes += "%20".utf8
      case UInt8(ascii: "*"): bytes += "%2A".utf8
      case UInt8(ascii: "~"): bytes.append(byte)
      default: FormEncoder.encode(byte, into: &bytes)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Scheme, host and port, the port only where it is not the scheme's own: what may be logged.
  package var origin: String {
    let isUsual = port == (scheme == .https ? 443 : 80)
    return isUsual ? "\(scheme.rawValue)://\(host)" : "\(scheme.rawValue)://\(host):\(port)"
  }

  /// The whole of it, query included.
  var text: String { origin + target }

  private static func hostAndPort(_ authority: Substring) throws(HTTPFailure) -> (String, Int?) {
    let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
      authority[colon...].utf8.contains(UInt8(ascii: "]")) ? nil : colon
    }
    let host = authority[..<(colon ?? authority.endIndex)].lowercased()
    guard isHost(host) else { throw .invalidURL }
    guard let colon else { return (host, nil) }
    let digits = authority[authority.index(after: colon)...].utf8
    guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .invalidURL }
    let port = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    guard (1...65_535).contains(port) else { throw .invalidURL }
    return (host, port)
  }

  private static func isHost(_ host: String) -> Bool {
    if host.hasPrefix("["), host.hasSuffix("]") { return isIPv6(String(host.dropFirst().dropLast())) }
    let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard host.utf8.count <= 253, labels.allSatisfy({ (1...63).contains($0.count) }) else { return false }
    let isName = { (byte: UInt8) in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
    }
    guard labels.allSatisfy({ $0.allSatisfy(isName) }), let last = labels.last else { return false }
    // What ends in a number is taken for an address by resolvers, in many spellings; one is accepted.
    guard last.allSatisfy({ (0x30...0x39).contains($0) }) || last.starts(with: "0x".utf8) else { return true }
    return labels.count == 4
      && labels.allSatisfy { label in
        let value = Int(String(decoding: label, as: UTF8.self)) ?? 256
        return value <= 255 && String(value).utf8.elementsEqual(label)
      }
  }

  private static func isIPv6(_ text: String) -> Bool {
    var address = in6_addr()
    // The text is NUL-terminated for the call, which writes the 16 bytes of `address` at most.
    return unsafe inet_pton(AF_INET6, text, &address) == 1
  }

  /// Whether bytes begin with those of a mark, in letters of any case.
  private static func begins(_ text: String.UTF8View, with mark: String.UTF8View) -> Bool {
    text.count >= mark.count && zip(text, mark).allSatisfy { (0x41...0x5A).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
  }

  private static func isTarget(_ target: String) -> Bool {
    let isHex = { (byte: UInt8) in
      (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
    // How many hexadecimal digits a percent sign still wants.
    var missing = 0
    for byte in target.utf8 {
      switch byte {
      case _ where missing > 0:
        guard isHex(byte) else { return false }
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

extension HTTPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The origin alone: path and query may hold what must not be logged.
  package var description: String { origin }

  /// The same as `description`.
  package var debugDescription: String { origin }

  /// Shows no part but the origin.
  package var customMirror: Mirror { Mirror(self, children: ["origin": origin]) }
}
