import BrokerProtocol
import JSON
import LinuxSystem

/// The helper of a server in git's configuration of the user (git-config(1), `credential.<url>.*`).
///
/// An empty value before it resets the list of helpers: no other one, which stores passwords, answers first or learns the
/// token.
final class GitHelperStep: SetupStep {
  /// The address of the server.
  let url: String
  /// The program, as an absolute path.
  let program: String
  /// Whether a path decides the token, so that git has to tell it.
  let usesPath: Bool

  /// The helper of a server.
  init(url: String, program: String, usesPath: Bool) {
    self.url = url
    self.program = program
    self.usesPath = usesPath
  }

  /// The program.
  static let git = "git"
  /// The word by which a value of this program's is recognised.
  private static var mark: String { GitHelper.programNames[0] }

  /// The servers whose helper is this program in git's configuration of the user; one step that says so where git
  /// cannot tell.
  static func installed(_ setup: SetupContext) -> [any SetupStep] {
    guard SearchPath.program(git, setup.environment) != nil else { return [] }
    let output: [UInt8]
    do throws(CommandFailure) {
      // 1: there is none.
      output = try run(["--null", "--get-regexp", "^credential\\..*\\.helper$"], setup, allowing: [0, 1])
    } catch { return [UnreadableStep(error)] }
    var urls: [String] = []
    // Each is a key, the end of a line, and the value.
    for entry in output.split(separator: 0) {
      let parts = entry.split(separator: UInt8(ascii: "\n"), maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
      guard parts.count == 2, parts[1].includes(mark) else { continue }
      let url = String(parts[0].dropFirst("credential.".count).dropLast(".helper".count))
      if !urls.contains(url) { urls.append(url) }
    }
    return urls.map { url in
      GitHelperStep(url: url, program: setup.program, usesPath: !Target(url: url, profile: .default).path.isEmpty)
    }.steps
  }

  private var key: String { "credential.\(url).helper" }
  private var pathKey: String { "credential.\(url).useHttpPath" }

  var title: String { key }

  var text: String {
    let path = usesPath ? "\ngit config --global \(pathKey.shellQuoted) true" : ""
    return "git config --global \(key.shellQuoted) ''\n"
      + "git config --global --add \(key.shellQuoted) \(value.shellQuoted)" + path
  }

  /// git takes a value with a slash at its start for a program, and what follows an exclamation mark for a shell's
  /// command (gitcredentials(7)); it is quoted only there.
  private var value: String { program == program.shellQuoted ? program : "!" + program.shellQuoted }

  func state(_ setup: SetupContext) -> SetupState {
    guard SearchPath.program(Self.git, setup.environment) != nil else { return .missing }
    let values: [String]
    do throws(CommandFailure) { values = try self.values(of: key, setup) } catch {
      return .blocked(error.message.sentence)
    }
    let needsPath = usesPath && (try? self.values(of: pathKey, setup)) != ["true"]
    return Array(values.suffix(2)) == ["", value] && !needsPath ? .installed : .missing
  }

  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    try Self.file(setup).exclusively(makingDirectory: false) { () throws(CommandFailure) in try add(setup) }
  }

  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    try Self.file(setup).exclusively(makingDirectory: false) { () throws(CommandFailure) in try takeOut(setup) }
  }

  /// The files that git reads (git-config(1), "FILES").
  private static func files(_ setup: SetupContext) -> [String] {
    if let path = setup.environment["GIT_CONFIG_GLOBAL"], PathName.isAbsolute(path) { return [path] }
    return [setup.home + "/.gitconfig", setup.file("XDG_CONFIG_HOME", orElse: ".config") + "/git/config"]
  }

  /// The one of them that git writes: the first, unless only another is there.
  private static func file(_ setup: SetupContext) -> ToolFile {
    let files = files(setup)
    return ToolFile(path: files.first { (try? FileStatus.following($0)) != nil } ?? files[0])
  }

  /// Refuses a file that git would wait at.
  ///
  /// - Throws: a failure that names it.
  static func expectReadableFiles(_ setup: SetupContext) throws(CommandFailure) {
    for path in files(setup) { try ToolFile(path: path).expectReadable() }
  }

  private func add(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    guard state(setup) != .installed else { return false }
    try Self.file(setup).expectWritable()
    let others = try others(setup)
    try replace(key, by: others + ["", value], setup)
    if usesPath { try replace(pathKey, by: ["true"], setup) }
    return true
  }

  private func takeOut(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    guard SearchPath.program(Self.git, setup.environment) != nil else { return false }
    let values = try values(of: key, setup)
    let others = try others(setup)
    guard others != values else { return false }
    try Self.file(setup).expectWritable()
    try replace(key, by: others, setup)
    if usesPath { try replace(pathKey, by: [], setup) }
    return true
  }

  /// The helpers that are not this program's, without the empty value before it.
  private func others(_ setup: SetupContext) throws(CommandFailure) -> [String] {
    var others: [String] = []
    for value in try values(of: key, setup) {
      guard value.includes(Self.mark) else {
        others.append(value)
        continue
      }
      if others.last == "" { others.removeLast() }
    }
    return others
  }

  private func values(of key: String, _ setup: SetupContext) throws(CommandFailure) -> [String] {
    // 1: the key is not there.
    let bytes = try Self.run(["--get-all", "--null", key], setup, allowing: [0, 1])
    let values = bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
    return values.map { String(decoding: $0, as: UTF8.self) }
  }

  private func replace(_ key: String, by values: [String], _ setup: SetupContext) throws(CommandFailure) {
    // 5: the key is not there.
    _ = try Self.run(["--unset-all", key], setup, allowing: [0, 5])
    for value in values { _ = try Self.run(["--add", key, value], setup, allowing: [0]) }
  }

  private static func run(
    _ words: [String], _ setup: SetupContext, allowing codes: [Int32]
  ) throws(CommandFailure) -> [UInt8] {
    guard let path = SearchPath.program(git, setup.environment) else {
      throw CommandFailure(.failure, "git is not on the PATH")
    }
    try expectReadableFiles(setup)
    let done = try ToolRun(path, ["config", "--global"] + words, environment: setup.environment)
    guard codes.contains(done.code) else {
      throw CommandFailure(.failure, "git cannot read or change its configuration (exit code \(done.code))")
    }
    return done.output
  }
}
