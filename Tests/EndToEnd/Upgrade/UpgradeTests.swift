import JSON
import LinuxSystem
import SQLite
import TestSupport
import Testing

/// Today's programs on the state directories and configurations of earlier ones.
@Suite(.standardTimeLimit) struct UpgradeTests {
  /// The commands of one state directory.
  private struct Machine {
    let sandbox: Sandbox
    let state: EarlierState
    let options: [String]

    init(_ state: EarlierState, _ sandbox: Sandbox) throws {
      (self.state, self.sandbox) = (state, sandbox)
      options = try state.copy(to: sandbox)
    }

    /// Runs a command that succeeds; what it prints.
    @discardableResult
    func run(_ words: String..., input: String = "") throws -> String {
      let run = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + words, input: input)
      #expect(run.code == 0, "\(words): \(run.code) \(run.errors)")
      return run.output
    }

    /// Starts today's broker and lets the vault be opened.
    func start(at schema: Int64) throws -> Program {
      let owner = try sandbox.owner(options)
      guard state.source == "passphrase" else { return owner }
      let vault = try status().required("vault")
      #expect(try vault.required("locked").bool() && vault.required("schemaVersion").integer() == schema)
      try run("unlock", "--password-stdin", input: EarlierState.secret)
      return owner
    }

    func status() throws -> JSONNode { try SocketWire(sandbox.socket).call("getStatus") }

    /// The states of all profiles by name.
    func sessions() throws -> [String: JSONNode] {
      let profiles = try status().required("profiles").elements()
      return try Dictionary(uniqueKeysWithValues: profiles.map { (try $0.required("profile").string(), $0) })
    }
  }

  private func expectOpen(_ machine: Machine) throws {
    let vault = try machine.status().required("vault")
    #expect(try vault.required("keySource").string() == machine.state.source && !vault.required("locked").bool())
    #expect(try vault.required("schemaVersion").integer() == 7)
    #expect(try vault["mayBeOlder"]?.bool() != true)
  }

  private func expectSessions(_ machine: Machine) throws {
    let sessions = try machine.sessions()
    let user = try #require(sessions["home"]).required("user")
    #expect(try user.required("email").string() == "ann@example.com" && user.required("name").string() == "Ann")
    for name in ["home", "kept", "killed"] {
      #expect(try sessions[name]?.required("refreshTokenPresent").bool() == true, "\(name)")
    }
    let ended = try #require(sessions["ended"])
    #expect(try ended.required("state").string() == "expired")
    #expect(try ended.required("loginRequiredReason").string() == "refreshRejected")
    #expect(try sessions["left"]?.required("state").string() == "signedOut")
    // Its code was good for an hour.
    let waiting = try sessions["waiting"]?.required("state").string()
    #expect(["challengePending", "signedOut"].contains(waiting))
  }

  /// The revocation that its provider was not told is tried for a day, and then given up.
  private func expectRevocation(_ machine: Machine) throws {
    let isThere = try Patience.wait {
      let counters = try machine.status().required("counters")
      let names = ["pendingRevocations", "revocationsGivenUp"]
      return try names.map { try counters.required($0).integer() }.reduce(0, +) == 1
    }
    #expect(isThere)
  }

  /// Its events are told for as long as events are kept.
  private func expectEvents(_ machine: Machine) throws {
    let wire = try SocketWire(machine.sandbox.socket)
    guard try wire.call("subscribe", #"{"since":0}"#)["resync"]?.bool() != true else { return }
    #expect(try wire.nextNode().required("params").required("event").string() == "login")
  }

  @Test(arguments: EarlierState.all)
  func `what an earlier version has kept is there, and is not brought over twice`(_ state: EarlierState) async throws {
    try await Sandbox.run { sandbox in
      let machine = try Machine(state, sandbox)
      let first = try machine.start(at: state.version.schema)
      try expectOpen(machine)
      try expectSessions(machine)
      try expectRevocation(machine)
      // The token is one of today's, for the refresh token from then.
      #expect(try machine.run("--profile", "home", "token", "--force-refresh").hasPrefix("ey"))
      try expectEvents(machine)
      try machine.run("stop")
      #expect(try first.wait() == 0)

      let backup = sandbox.state + "/vault.sqlite.backup-\(state.version.schema)"
      #expect(try FileStatus.ofLink(backup).permissions == 0o600)
      let identity = try FileStatus.ofLink(backup).identity
      let names = Directory.names(in: sandbox.state)
      let second = try machine.start(at: 7)
      try expectOpen(machine)
      try expectSessions(machine)
      try machine.run(
        "--profile", "home", "login", "--email", "ann@example.com", "--password-stdin",
        input: EarlierState.password + "\n")
      try machine.run("stop")
      #expect(try second.wait() == 0)
      #expect(try FileStatus.ofLink(backup).identity == identity && Directory.names(in: sandbox.state) == names)
    }
  }

  @Test func `the configuration of 0.1 is good without a word`() async throws {
    try await Sandbox.run { sandbox in
      let options = try EarlierState(version: .first, source: "file").copy(to: sandbox)
      let check = try sandbox.run(BuiltPrograms.command, options + ["config", "check"])
      #expect(check.code == 0 && check.errors.isEmpty, "\(check.errors)")
    }
  }

  @Test func `limits that 0.2 was to have are obeyed, and named once with the version that ends it`() async throws {
    try await Sandbox.run { sandbox in
      let machine = try Machine(EarlierState(version: .second, source: "file"), sandbox)
      let check = try sandbox.run(BuiltPrograms.command, machine.options + ["config", "check"])
      #expect(check.code == 0 && check.errors.split(separator: "\n").count == 1, "\(check.errors)")
      #expect(check.errors.hasPrefix("authbroker: obeyed until version 0.3: limits.maxMembers, "), "\(check.errors)")
      #expect(check.errors.hasSuffix(", limits.maxProviderTrials; remove them\n"))
      let owner = try machine.start(at: 4)
      try machine.run("stop")
      #expect(try owner.wait() == 0)
      let log = owner.errorText
      #expect(log.split(separator: "\n").count { $0.contains("until version 0.3") } == 1, "\(log)")
    }
  }

  @Test func `the vault of a later version is refused, and stays as it is`() async throws {
    try await Sandbox.run { sandbox in
      let options = try EarlierState(version: .second, source: "file").copy(to: sandbox)
      let path = sandbox.state + "/vault.sqlite"
      let connection = try SQLiteConnection(path: path, applicationID: 0x4142_5654)
      try connection.setSchemaVersion(8)
      try connection.close()
      let before = try Directory.bytes(of: path)
      let refusal = try sandbox.refusedDaemon(options)
      #expect(refusal.code == 7)
      let reason = "The vault has format 8, and this version supports up to 7; install the newer version"
      #expect(refusal.errors.contains(reason), "\(refusal.errors)")
      #expect(try Directory.bytes(of: path) == before)
    }
  }
}
