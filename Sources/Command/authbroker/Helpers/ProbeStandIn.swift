import JSON
import LinuxSystem

/// The address that stands for a configured target in the environment of a tool that `doctor --tool` runs.
///
/// The tool talks to a probe on this machine, so it asks its helper for the probe's address. The variable tells the helper
/// which target is meant; only an address of the loopback interface can stand for one.
enum ProbeStandIn {
  /// The variable that `doctor` sets: `127.0.0.1:PORT ADDRESS`.
  static let variable = "AUTHBROKER_PROBE"
  /// The only host that a probe has.
  private static let host = "127.0.0.1:"

  /// What the variable is set to.
  static func value(port: Int, target: String) -> String { "\(host)\(port) \(target)" }

  /// The address that a helper asks the broker for.
  ///
  /// - Parameters:
  ///   - address: what the tool asks for.
  ///   - environment: the helper's.
  /// - Returns: the target's address where the probe was asked for, else `address`.
  static func resolved(_ address: String, _ environment: EnvironmentVariables) -> String {
    guard let value = environment[variable] else { return address }
    let words = value.split(separator: " ")
    // Digits alone: behind a name and an @, another host would follow.
    guard words.count == 2, words[0].hasPrefix(host), UInt16(words[0].dropFirst(host.count)) != nil,
      let scheme = address.firstOccurrence(of: "://")
    else { return address }
    let authority = address[scheme.upperBound...].prefix { $0 != "/" }
    return authority == words[0] ? String(words[1]) : address
  }
}
