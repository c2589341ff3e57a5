import LinuxSystem

/// The helper of a server in git's configuration of the user (git-config(1), `credential.<url>.*`).
///
/// An empty value before it resets the list of helpers: no other one, which stores passwords, answers first or learns the
/// token.
struct GitHelperStep: SetupStep {
  /// The address of the server.
  let url: String
  /// The program, as an absolute path.
  let program: String
  /// Whether a path decides the token, so that git has to tell it.
  let usesPath: Bool

  private static let git = "git"
  /// How a value of this program's is known again.
  private static let mark = "git-credential-authbroker"

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

  func state(_ scene: SetupScene) -> SetupState {
    guard SearchPath.program(Self.git, scene.environment) != nil else { return .missing }
    guard let values = try? values(of: key, scene) else { return .blocked("git does not tell its configuration") }
    let needsPath = usesPath && (try? self.values(of: pathKey, scene)) != ["true"]
    return Array(values.suffix(2)) == ["", value] && !needsPath ? .installed : .missing
  }

  func install(_ scene: SetupScene) throws(CommandFailure) -> Bool {
    guard state(scene) != .installed else { return false }
    let others = try others(scene)
    try replace(key, by: others + ["", value], scene)
    if usesPath { try replace(pathKey, by: ["true"], scene) }
    return true
  }

  func remove(_ scene: SetupScene) throws(CommandFailure) -> Bool {
    guard SearchPath.program(Self.git, scene.environment) != nil else { return false }
    let values = try values(of: key, scene)
    let others = try others(scene)
    guard others != values else { return false }
    try replace(key, by: others, scene)
    if usesPath { try replace(pathKey, by: [], scene) }
    return true
  }

  /// The helpers that are not this program's, without the empty value before it.
  private func others(_ scene: SetupScene) throws(CommandFailure) -> [String] {
    var others: [String] = []
    for value in try values(of: key, scene) {
      guard value.contains(Self.mark) else {
        others.append(value)
        continue
      }
      if others.last == "" { others.removeLast() }
    }
    return others
  }

  private func values(of key: String, _ scene: SetupScene) throws(CommandFailure) -> [String] {
    // 1: the key is not there.
    let bytes = try run(["--get-all", "--null", key], scene, allowing: [0, 1])
    let values = bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
    return values.map { String(decoding: $0, as: UTF8.self) }
  }

  private func replace(_ key: String, by values: [String], _ scene: SetupScene) throws(CommandFailure) {
    // 5: the key is not there.
    _ = try run(["--unset-all", key], scene, allowing: [0, 5])
    for value in values { _ = try run(["--add", key, value], scene, allowing: [0]) }
  }

  private func run(
    _ words: [String], _ scene: SetupScene, allowing codes: [Int32]
  ) throws(CommandFailure) -> [UInt8] {
    guard let path = SearchPath.program(Self.git, scene.environment) else {
      throw CommandFailure(.failure, "git is not on the PATH")
    }
    let done = try ToolRun(path, ["config", "--global"] + words, environment: scene.environment)
    guard codes.contains(done.code) else {
      throw CommandFailure(.failure, "git cannot change its configuration (exit code \(done.code))")
    }
    return done.output
  }
}
