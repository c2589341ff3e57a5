import LinuxSystem
import TextCoding

/// The ssh(1) tunnel by which a browser on the person's own computer comes back to a login on this one.
struct LoopbackTunnel: Equatable {
  /// The port of the redirect address (RFC 8252, section 7.3).
  let port: Int
  /// The command for the other computer.
  let command: String

  /// The tunnel for an authorization request; nil outside of ssh(1), or the request does not return to a
  /// loopback address.
  ///
  /// `SSH_CONNECTION` has the client's address and port, then this computer's.
  init?(to address: String, _ environment: EnvironmentVariables) {
    let connection = (environment["SSH_CONNECTION"] ?? "").split(separator: " ")
    guard connection.count == 4, let redirect = Self.redirect(in: address) else { return nil }
    port = redirect.port
    let user = environment["LOGNAME"] ?? environment["USER"] ?? ""
    // Without a bind address, ssh(1) listens on localhost alone.
    let listening = redirect.host.hasPrefix("[") ? "\(redirect.host):\(port)" : "\(port)"
    let destination = (user.isEmpty ? "" : user + "@") + connection[2]
    let words =
      ["ssh", "-N", "-L", "\(listening):\(redirect.host):\(port)"]
      + (connection[3] == "22" ? [] : ["-p", String(connection[3])]) + [destination]
    command = words.map { $0.shellQuoted }.joined(separator: " ")
  }

  /// The host and the port of the redirect address that an authorization request names (RFC 6749, section 4.1.1).
  private static func redirect(in address: String) -> (host: String, port: Int)? {
    let query = address.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    let name = "redirect_uri="
    guard let parameter = query.split(separator: "&").first(where: { $0.hasPrefix(name) }),
      let bytes = PercentEncoding.decoded(parameter.dropFirst(name.count).utf8, as: .component),
      let redirect = String(validating: bytes, as: UTF8.self), redirect.hasPrefix("http://")
    else { return nil }
    let authority = redirect.dropFirst("http://".count).prefix { $0 != "/" }
    for host in ["127.0.0.1", "localhost", "[::1]"] where authority.hasPrefix(host) {
      let rest = authority.dropFirst(host.count)
      if rest.isEmpty { return (host, 80) }
      guard rest.first == ":", let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
      return (host, Int(port))
    }
    return nil
  }
}
