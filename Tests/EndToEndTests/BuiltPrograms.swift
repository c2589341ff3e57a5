import LinuxSystem

/// Where the programs under test and the repository's files are.
enum BuiltPrograms {
  /// The repository.
  static let repository = String(#filePath.dropLast("/Tests/EndToEndTests/BuiltPrograms.swift".count))

  /// The directory that the build puts its products in: the one that the test itself runs from, if it is there.
  static let directory: String = {
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
