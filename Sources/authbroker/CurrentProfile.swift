import BrokerProtocol
import LinuxSystem
import StateDirectory
import Synchronization

/// Whether this process has found a current profile.
private let isChosen = Atomic(false)

/// The profile that a person works with, where a command line names none.
///
/// It is the command's own: the broker, helpers and targets do not know it.
enum CurrentProfile {
  /// The variable that names it for one shell.
  static let variable = "AUTHBROKER_PROFILE"
  /// The longest name, its end of line included, with some room to see that it is too long.
  private static let longest = 256

  /// Whether one was found: then the profile `default` must be named as any other.
  static var isFound: Bool { isChosen.load(ordering: .relaxed) }

  /// The profile of the variable, else of the file; nil where neither names one.
  ///
  /// - Throws: a usage failure where one of them is no profile's name.
  static func find(_ environment: EnvironmentVariables) throws(CommandFailure) -> ProfileName? {
    let found: ProfileName
    if let text = environment[variable], !text.isEmpty {
      guard let name = ProfileName(text) else {
        throw .usage("\(variable) must be a profile's name, not \(text.shellQuoted)")
      }
      found = name
    } else {
      guard let path = path(environment), let text = contents(of: path) else { return nil }
      guard let name = ProfileName(text) else {
        throw CommandFailure(
          .usage, "\(path) holds no profile's name", next: NextCommand("write it again with", "profile", "use", "NAME"))
      }
      found = name
    }
    isChosen.store(true, ordering: .relaxed)
    return found
  }

  /// The file that names it for all shells; nil where nothing says where it would be.
  static func path(_ environment: EnvironmentVariables) -> String? {
    if let base = environment["XDG_CONFIG_HOME"], PathName.isAbsolute(base) { return base + "/authbroker/profile" }
    guard let home = environment["HOME"], PathName.isAbsolute(home) else { return nil }
    return (home == "/" ? "" : home) + "/.config/authbroker/profile"
  }

  /// The first line of the file; nil where there is none.
  private static func contents(of path: String) -> String? {
    guard let file = try? FileDescriptor.open(path, [.read, .nonBlocking]),
      let bytes = try? file.contents(limit: longest)
    else { return nil }
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
  }
}
