import LinuxSystem
import TestSupport

/// Where the programs under test and the repository's files are.
enum BuiltPrograms {
  /// The repository.
  static let repository = Repository.root

  /// The directory of a release build, where `TEST_PROGRAMS` names one.
  static let released = Environment.current["TEST_PROGRAMS"].flatMap { $0.hasPrefix("/") ? $0 : nil }

  /// The directory of the programs: `TEST_PROGRAMS`, for a release build; else the one that the build puts its products
  /// in, which is the one that the test itself runs from, if it is there.
  static let directory: String = {
    if let released { return released }
    let own = ProcessIdentity.executable.map { PathName.directory(of: $0) } ?? ""
    let candidates = [own, repository + "/.build/debug"]
    return candidates.first { (try? FileStatus.following($0 + "/authbrokerd")) != nil } ?? own
  }()

  /// The daemon.
  static let daemon = directory + "/authbrokerd"
  /// The command.
  static let command = directory + "/authbroker"
  /// The shell client.
  static let shellClient = repository + "/clients/shell/authbroker.sh"
}
