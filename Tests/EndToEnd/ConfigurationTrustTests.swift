import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A configuration that other users could have written is obeyed by no program: it names programs to run.
@Suite(.standardTimeLimit) struct ConfigurationTrustTests {
  /// How a configuration comes into other hands.
  enum Exposure: String {
    case writableByAll, writableByGroup, foreignOwner, openDirectory

    /// Those that every user can bring about.
    static let own: [Exposure] = [.writableByAll, .openDirectory]
  }

  /// The vault's key comes from a program that leaves a mark where it is run.
  private static func configure(_ sandbox: Sandbox, _ exposure: Exposure) throws -> [String] {
    let folder = sandbox.root + "/folder"
    mkdir(folder, 0o700)
    let path = folder + "/config.json"
    let command = #"["sh", "-c", "touch \#(sandbox.root)/ran; echo 0123456789abcdef0123456789abcdef"]"#
    try Directory.write(#"{ vault: { keySource: "command", command: \#(command) } }"#, to: path)
    switch exposure {
    case .writableByAll: chmod(path, 0o666)
    case .writableByGroup:
      chown(path, geteuid(), 54321)
      chmod(path, 0o620)
    case .foreignOwner: chown(path, 1, 1)
    case .openDirectory: chmod(folder, 0o777)
    }
    return ["--config", path]
  }

  private static func hasRun(_ sandbox: Sandbox) -> Bool { Directory.names(in: sandbox.root).contains("ran") }

  @Test(arguments: Exposure.own)
  func `no broker starts with it, and no program in it is run`(_ exposure: Exposure) async throws {
    try await Self.expectRefusal(exposure)
  }

  @Test(
    .enabled(if: geteuid() == 0, "only root can give a file to another user"),
    arguments: [Exposure.foreignOwner, .writableByGroup])
  func `no broker starts with one of another user or group, and no program in it is run`(
    _ exposure: Exposure
  ) async throws {
    try await Self.expectRefusal(exposure)
  }

  private static func expectRefusal(_ exposure: Exposure) async throws {
    try await Sandbox.run { sandbox in
      let options = try Self.configure(sandbox, exposure)
      let refused = try sandbox.refusedDaemon(options)
      #expect(refused.code == 1, "\(refused.errors)")
      let remedy = [.foreignOwner: "chown", .writableByGroup: "chmod g-w"][exposure] ?? "chmod o-w"
      #expect(refused.errors.contains("\(sandbox.root)/folder") && refused.errors.contains("run: \(remedy) "))
      let started = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + ["status"])
      #expect(started.code == 1 && started.errors.contains("run: \(remedy) "), "\(started.errors)")
      let checked = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + ["config", "check"])
      #expect(checked.code == 1 && checked.errors.contains("run: \(remedy) "), "\(checked.errors)")
      #expect(!Self.hasRun(sandbox))
    }
  }

  @Test func `a running broker keeps its old one`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure("{}")
      _ = try sandbox.owner(options)
      let client = try SocketWire(sandbox.socket)
      chmod(options[1], 0o666)
      #expect(try client.refusal("reloadConfig") == "configInvalid")
      chmod(options[1], 0o600)
      #expect(try client.refusal("reloadConfig") == nil)
    }
  }

  @Test func `a configuration that has gone takes no profile away`() async throws {
    try await Sandbox.run { sandbox in
      let folder = (sandbox.environment["XDG_CONFIG_HOME"] ?? "") + "/authbroker"
      for path in [sandbox.root + "/home/config", folder] { mkdir(path, 0o700) }
      try Directory.write(#"{ profiles: { work: { provider: "local" } } }"#, to: folder + "/config.json")
      chmod(folder + "/config.json", 0o600)
      _ = try sandbox.owner([])
      let client = try SocketWire(sandbox.socket)
      #expect(try client.call("listSessions").required("sessions").elements().count == 1)
      #expect(rename(folder + "/config.json", folder + "/away.json") == 0)
      #expect(try client.refusal("reloadConfig") == "configInvalid")
      #expect(try client.refusal("getSession", #"{"profile":"work"}"#) == nil)
      #expect(rename(folder + "/away.json", folder + "/config.json") == 0)
      #expect(try client.refusal("reloadConfig") == nil)
    }
  }
}
