import BrokerProtocol
import LinuxSystem
import StateDirectory
import Synchronization

/// Whether this process has found a current profile.
private let isChosen = Atomic(false)

/// The profile that a person works with, where a command line names none.
///
/// The client packages read it too; the broker, helpers and targets do not know it.
enum CurrentProfile {
  /// The variable that names it for one shell.
  static var variable: String { ChosenProfile.variable }

  /// Whether one was found: then the profile `default` must be named as any other.
  static var isFound: Bool { isChosen.load(ordering: .relaxed) }

  /// The profile of the variable, else of the file; nil where neither names one.
  ///
  /// - Throws: a usage failure where one of them is no profile's name.
  static func find(_ environment: EnvironmentVariables) throws(CommandFailure) -> ProfileName? {
    let found: ProfileName
    if let text = ChosenProfile.ofVariable(environment) {
      guard let name = ProfileName(text) else {
        throw .usage("\(variable) must be a profile's name, not \(text.shellQuoted)")
      }
      found = name
    } else {
      guard let path = path(environment), let text = ChosenProfile.line(of: path) else { return nil }
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
  static func path(_ environment: EnvironmentVariables) -> String? { ChosenProfile.path(environment) }
}
