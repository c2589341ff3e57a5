/// The redirect addresses that a client is registered with.
///
/// A server should take a loopback address with any port (RFC 8252, section 7.3); many compare the whole address. So some
/// fixed ports are registered as well, and each login takes one that is free: several can wait for their browser at once.
enum RegisteredRedirects {
  /// The ports are above those that the kernel gives to outgoing connections (ip_local_port_range, proc_sys_net_ipv4(7)).
  private static let ports = 61_000...65_000
  private static let count = 5

  /// The addresses for a new registration.
  ///
  /// - Parameter configured: the profile's own; one that names a port is registered alone.
  /// - Returns: as texts.
  static func new(_ configured: LoopbackRedirect) -> [String] {
    guard configured.port == 0 else { return [configured.text(port: configured.port)] }
    let first = Int.random(in: ports.lowerBound...(ports.upperBound - count))
    return (first..<first + count).map { configured.text(port: $0) }
  }

  /// The addresses that a login may use, the preferred ones first.
  static func usable(_ registered: [String], _ configured: LoopbackRedirect) -> [LoopbackRedirect] {
    guard configured.port == 0 else { return [configured] }
    let known = registered.compactMap { LoopbackRedirect($0) }
    return known.isEmpty ? [configured] : known
  }
}
