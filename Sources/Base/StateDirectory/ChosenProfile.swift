package import LinuxSystem

/// The profile that a person has chosen for programs that name none: the text of it, which may be no profile's name.
///
/// It is the command's and the client packages' own: the broker, helpers and targets do not know it.
package enum ChosenProfile {
  /// The variable that names it for one shell.
  package static let variable = "AUTHBROKER_PROFILE"
  /// The longest name, its end of line included, with some room to see that it is too long.
  private static let longest = 256

  /// The profile that the variable names; nil where it is empty or not set.
  package static func ofVariable(_ environment: EnvironmentVariables) -> String? {
    environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The file that names it for all shells; nil where nothing says where it would be.
  package static func path(_ environment: EnvironmentVariables) -> String? {
    if let base = environment["XDG_CONFIG_HOME"], PathName.isAbsolute(base) { return base + "/authbroker/profile" }
    guard let home = environment["HOME"], PathName.isAbsolute(home) else { return nil }
    return (home == "/" ? "" : home) + "/.config/authbroker/profile"
  }

  /// The first line of the file; nil where there is none.
  package static func line(of path: String) -> String? {
    guard let file = try? FileDescriptor.open(path, [.read, .nonBlocking]),
      let bytes = try? file.contents(limit: longest)
    else { return nil }
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
  }
}
