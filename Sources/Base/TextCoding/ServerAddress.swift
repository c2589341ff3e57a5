/// The server of a URL: host and port (RFC 3986, section 3.2), without user information.
///
/// Stricter than the RFC, so that no later reader (libcurl, a proxy, a server) can take it for something else: a name
/// is in ASCII, and an address is in full (no `127.1`, no `0x7f.0.0.1`).
package struct ServerAddress: Sendable, Hashable {
  /// The name or address, in lower case; an IPv6 address in its brackets, in the one spelling of RFC 5952.
  package let host: String
  /// The port; nil where none is named.
  package let port: Int?

  /// Takes an authority apart; nil for what is none, or could be read in two ways.
  package init?(_ authority: Substring) {
    var name = Array(authority.utf8)
    let colon = name.lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
      name[colon...].contains(UInt8(ascii: "]")) ? nil : colon
    }
    var port: Int?
    if let colon {
      port = Self.number(name[(colon + 1)...], digits: 5)
      guard let port, (1...65_535).contains(port) else { return nil }
      name.removeSubrange(colon...)
    }
    for index in name.indices where (0x41...0x5A).contains(name[index]) { name[index] |= 0x20 }
    if name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]"), name.count > 2 {
      guard let address = IPv6Address(name[1..<name.count - 1]) else { return nil }
      host = "[\(address)]"
    } else {
      guard Self.isName(name) else { return nil }
      host = String(decoding: name, as: UTF8.self)
    }
    self.port = port
  }

  /// Whether it is this machine, literally: addresses that never leave it (RFC 6890: 127.0.0.0/8 and `::1`).
  package var isLoopback: Bool {
    // What has nothing but digits and points is an address in full.
    let isIPv4 = host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    return host == "localhost" || host == "[::1]" || isIPv4 && host.hasPrefix("127.")
  }

  private static func isName(_ host: [UInt8]) -> Bool {
    guard host.count <= 253 else { return false }
    var start = 0
    for index in 0...host.count {
      let isEnd = index == host.count || host[index] == UInt8(ascii: ".")
      guard isEnd else {
        guard isOfName(host[index]) else { return false }
        continue
      }
      guard (1...63).contains(index - start) else { return false }
      if index < host.count { start = index + 1 }
    }
    // What ends in a number is taken for an address by resolvers, in many spellings; one is accepted.
    let last = host[start...]
    guard last.allSatisfy({ (0x30...0x39).contains($0) }) || last.starts(with: "0x".utf8) else { return true }
    return IPv6Address.isIPv4(host[...])
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// The value of a text of decimal digits; nil for anything else, and for too many.
  static func number(_ text: ArraySlice<UInt8>, digits: Int) -> Int? {
    guard (1...digits).contains(text.count), text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }
}
