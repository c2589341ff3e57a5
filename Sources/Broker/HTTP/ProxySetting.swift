import SecretMemory
import TextCoding

/// The proxy that requests go through.
///
/// libcurl's own reading of the environment is always off. Only `https` goes through a proxy, by CONNECT, so the proxy sees names and amounts but no content. `http` is for this
/// machine alone and never leaves it.
package enum ProxySetting: Sendable {
  /// Directly, without a proxy.
  case none
  /// A proxy, but for the hosts of `exceptions`: names separated by commas, each with all below it; `*` is every host.
  case proxy(ProxyURL, exceptions: String)

  /// Reads the setting from the environment, once at the start.
  ///
  /// The names are those of curl(1): `https_proxy`, then `all_proxy`, each in lower or upper case, and `no_proxy`.
  ///
  /// - Throws: `HTTPFailure.invalidURL` when the variable that counts is no proxy's URL.
  package static func environment(_ variables: [String: String]) throws(HTTPFailure) -> ProxySetting {
    func value(_ names: [String]) -> String? {
      for name in names { if let value = variables[name], !value.isEmpty { return value } }
      return nil
    }
    guard let text = value(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]) else { return .none }
    let exceptions = value(["no_proxy", "NO_PROXY"]) ?? ""
    guard exceptions.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .invalidURL }
    return .proxy(try ProxyURL(text), exceptions: exceptions)
  }
}

/// The address of a proxy, maybe with a name and password for it.
package struct ProxyURL: Sendable {
  // How the proxy is spoken to: curl's names.
  private static let schemes = ["http", "https", "socks5", "socks5h"]
  // What curl(1) takes where none is given.
  private static let usualPort = 1080

  /// The whole URL, which may hold a password.
  let text: Secret
  /// Scheme, host and port: what may be shown.
  package let origin: String
  /// The host and port, in libcurl's words for a failed connection.
  let place: String

  /// Reads `[scheme://][user:password@]host[:port]`; without a scheme it is `http`.
  ///
  /// - Throws: `HTTPFailure.invalidURL`, or `.secretMemoryExhausted`.
  package init(_ text: String) throws(HTTPFailure) {
    guard text.utf8.count <= HTTPURL.longest, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .invalidURL
    }
    let scheme = Self.schemes.first { text.lowercased().hasPrefix($0 + "://") }
    let rest = text.dropFirst(scheme.map { $0.count + 3 } ?? 0)
    let authority = rest.prefix { $0 != "/" }
    guard rest.dropFirst(authority.count).allSatisfy({ $0 == "/" }), !rest.contains("?"), !rest.contains("#") else {
      throw .invalidURL
    }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    // A proxy's host and port obey the same rules as a server's.
    guard let server = ServerAddress(place) else { throw .invalidURL }
    let port = server.port ?? (scheme == "https" ? 443 : Self.usualPort)
    origin = "\(scheme ?? "http")://\(server.host):\(port)"
    self.place = "\(server.host.filter { $0 != "[" && $0 != "]" }) port \(port) "
    let user = authority.dropLast(place.count)
    do {
      self.text = try Secret(utf8: "\(scheme ?? "http")://\(user)\(server.host):\(port)\0")
    } catch { throw .secretMemoryExhausted }
  }
}

extension ProxyURL: CustomStringConvertible {
  /// The origin alone.
  package var description: String { origin }
}
