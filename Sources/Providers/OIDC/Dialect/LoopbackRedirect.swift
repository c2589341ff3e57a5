/// The address on this machine that a browser comes back to (RFC 8252, section 7.3).
package struct LoopbackRedirect: Sendable, Equatable {
  /// The host name of the loopback address.
  package enum Host: String, Sendable, CaseIterable {
    /// IPv4.
    case ipv4 = "127.0.0.1"
    /// IPv6.
    case ipv6 = "[::1]"
    /// IPv4 by a name, for providers that know no other (RFC 8252, section 8.3, advises against it).
    case name = "localhost"
  }

  /// The host name of the loopback address.
  package let host: Host
  /// On which port; 0 is any that is free.
  package let port: Int
  /// The path: begins with a slash, without a query.
  package let path: String

  /// Any free port: what native programs use.
  package static let standard = LoopbackRedirect(host: .ipv4, port: 0, path: "/callback")

  /// The longest path: whatever a provider may want to be registered.
  private static let longestPath = 256

  private init(host: Host, port: Int, path: String) {
    self.host = host
    self.port = port
    self.path = path
  }

  /// Reads `http://127.0.0.1:0/callback` and its like; nil for what is no loopback address with a port.
  package init?(_ text: String) {
    guard text.hasPrefix("http://"), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    let rest = text.dropFirst("http://".utf8.count)
    let authority = rest.prefix { $0 != "/" }
    guard let host = Host.allCases.first(where: { authority.hasPrefix($0.rawValue) }) else { return nil }
    let port = authority.dropFirst(host.rawValue.utf8.count)
    let path = rest.dropFirst(authority.utf8.count)
    guard let number = Self.port(port), Self.isPath(path) else { return nil }
    self.init(host: host, port: number, path: path.isEmpty ? "/" : String(path))
  }

  /// Host and port as a browser writes them in `Host`.
  package func authority(port: Int) -> String { port == 80 ? host.rawValue : "\(host.rawValue):\(port)" }

  /// The whole address, with the port that is listened on.
  package func text(port: Int) -> String { "http://\(authority(port: port))\(path)" }

  private static func port(_ text: Substring) -> Int? {
    guard text.first == ":", (2...6).contains(text.utf8.count),
      text.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(text.dropFirst()), port <= 65_535
    else { return text.isEmpty ? 80 : nil }
    return port
  }

  private static func isPath(_ path: Substring) -> Bool {
    let marks = Set("-._~/!$&'()*+,;=:@".utf8)
    return path.utf8.count <= longestPath
      && path.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || marks.contains(byte)
      }
  }
}
