import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// Sockets of a real broker that give some profiles only.
@Suite(.standardTimeLimit) struct LimitedSocketTests {
  private static let profiles = #"profiles: { default: { provider: "local" }, work: { provider: "local" } }"#

  private static func command(_ sandbox: Sandbox, by path: String, _ words: String...) throws -> Sandbox.Outcome {
    var environment = sandbox.environment
    environment["AUTHBROKER_SOCKET"] = path
    return try sandbox.run(BuiltPrograms.command, words, environment: environment)
  }

  /// A broker with somebody logged in on both profiles, and the socket `ci` as a test wants it.
  private static func start(_ sandbox: Sandbox, _ socket: String) throws -> String {
    _ = try sandbox.owner(try sandbox.configure("{ \(profiles), sockets: { ci: { \(socket) } } }"))
    let wire = try SocketWire(sandbox.socket)
    for profile in ["default", "work"] {
      let account = #"{"profile":"\#(profile)","email":"\#(profile)@example.com","password":"example password 1"}"#
      _ = try wire.call("register", account)
    }
    return PathName.directory(of: sandbox.socket) + "/sockets/ci/broker.sock"
  }

  /// How many of each have an answer.
  private static func answered(_ clients: [[SocketWire]]) throws -> [Int] {
    try clients.map { try $0.count { try $0.hasMore() } }
  }

  private static func reload(_ sandbox: Sandbox) throws {
    let owner = try SocketWire(sandbox.socket)
    try owner.prove()
    _ = try owner.call("reloadConfig")
  }

  @Test func `it gives what it says, is alone in its directory, and goes with a reload`() async throws {
    try await Sandbox.run { sandbox in
      let path = try Self.start(sandbox, #"profiles: ["work"], methods: ["getAccessToken"]"#)
      var status = stat()
      #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
      #expect(Directory.names(in: PathName.directory(of: path)) == ["broker.sock"])
      let token = try Self.command(sandbox, by: path, "token")
      #expect(token.code == 0 && !token.output.isEmpty, "\(token.errors)")
      let hidden = try Self.command(sandbox, by: path, "token", "--profile", "default")
      #expect(hidden.code != 0 && hidden.errors.contains("no profile default"), "\(hidden.errors)")
      #expect(!hidden.errors.contains("it has default"))
      // A command that asks for the sessions first is refused these.
      let refusals = [
        (["lock"], "call it on the broker's own socket"), (["reload"], "call it on the broker's own socket"),
        (["logout", "--all"], "ask its owner to add it to sockets.ci.methods"),
      ]
      for (words, advice) in refusals {
        var environment = sandbox.environment
        environment["AUTHBROKER_SOCKET"] = path
        let refused = try sandbox.run(BuiltPrograms.command, words, environment: environment)
        #expect(refused.code == 6, "\(words): \(refused.errors)")
        #expect(refused.errors.contains(advice), "\(words): \(refused.errors)")
      }
      let client = try SocketWire(path)
      _ = try client.call("ping")
      _ = try sandbox.configure("{ \(Self.profiles) }")
      try Self.reload(sandbox)
      #expect(lstat(path, &status) != 0)
      #expect(throws: (any Error).self) { try client.call("ping") }
      #expect(try Self.command(sandbox, by: sandbox.socket, "token", "--profile", "work").code == 0)
    }
  }

  @Test func `one that cannot be used keeps no other from being served`() async throws {
    try await Sandbox.run { sandbox in
      let open = sandbox.root + "/open"
      mkdir(open, 0o777)
      chmod(open, 0o777)
      _ = try Self.start(sandbox, #"path: "\#(open)/s", profiles: ["work"]"#)
      #expect(access(open + "/s", F_OK) != 0)
      let doctor = try sandbox.command("doctor", "--no-network")
      #expect(doctor.output.contains("the limited socket ci cannot be used"), "\(doctor.output)")
      #expect(try Self.command(sandbox, by: sandbox.socket, "token", "--profile", "work").code == 0)
      // It is tried again.
      chmod(open, 0o755)
      try Self.reload(sandbox)
      #expect(try Self.command(sandbox, by: open + "/s", "token").code == 0)
    }
  }

  @Test func `one whose path has gone, or was replaced, is bound again, and its clients stay`() async throws {
    try await Sandbox.run { sandbox in
      let path = try Self.start(sandbox, #"profiles: ["work"]"#)
      let client = try SocketWire(path)
      _ = try client.call("getAccessToken")
      unlink(path)
      #expect(Patience.wait { (try? SocketWire(path).call("ping")) != nil })
      #expect(try sandbox.run("/bin/rm", ["-r", PathName.directory(of: path)]).code == 0)
      #expect(Patience.wait { (try? SocketWire(path).call("ping")) != nil })
      // What another program has put there is left to it.
      try Directory.write("", to: path + ".other")
      rename(path + ".other", path)
      let owner = try SocketWire(sandbox.socket)
      try owner.prove()
      #expect(try Patience.wait { try owner.call("listSockets").required("sockets").elements()[0]["problem"] != nil })
      unlink(path)
      #expect(Patience.wait { (try? SocketWire(path).call("ping")) != nil })
      #expect(try owner.call("listSockets").required("sockets").elements()[0]["problem"] == nil)
      _ = try client.call("getAccessToken")
      #expect(try sandbox.command("stop").code == 0)
      #expect(access(path, F_OK) != 0)
    }
  }

  @Test func `limited sockets have half of the connections together, and a full one holds up no other client`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let entries = ["a", "b", "c"].map { "\($0): { profiles: [\"work\"] }" }.joined(separator: ", ")
      _ = try sandbox.owner(
        try sandbox.configure("{ \(Self.profiles), limits: { maxConnections: 8 }, sockets: { \(entries) } }"))
      var clients: [SocketWire] = []
      /// Connects so many clients, whose questions are answered or wait.
      func connect(_ path: String, _ count: Int) throws -> [SocketWire] {
        let wires = try (0..<count).map { _ in try SocketWire(path) }
        for wire in wires { try wire.send(Array(#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#.utf8)) }
        clients += wires
        return wires
      }
      let limited = try ["a", "b", "c"].map {
        try connect(PathName.directory(of: sandbox.socket) + "/sockets/\($0)/broker.sock", 3)
      }
      // The owner's programs have the other half.
      for wire in try connect(sandbox.socket, 4) { _ = try wire.nextNode() }
      #expect(try Patience.wait { try Self.answered(limited).reduce(0, +) == 4 })
      #expect(try Self.answered(limited).allSatisfy { $0 <= 2 })
      #expect(clients.count == 13)
    }
  }

  @Test func `users and groups that are not there are mistakes`() async throws {
    try await Sandbox.run { sandbox in
      for (member, name) in [(#"uids: ["nobody-at-all"]"#, "user"), (#"group: "nobody-at-all""#, "group")] {
        let options = try sandbox.configure(
          "{ \(Self.profiles), sockets: { ci: { profiles: [\"work\"], \(member) } } }")
        let outcome = try sandbox.refusedDaemon(options)
        #expect(
          outcome.code == 1 && outcome.errors.contains("there is no \(name) \"nobody-at-all\""), "\(outcome.errors)")
      }
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
  func `another user is served by a socket that names it, and by no other`() async throws {
    try await Sandbox.run { sandbox in
      let path = sandbox.root + "/shared/s"
      for directory in [sandbox.root, sandbox.root + "/shared"] {
        mkdir(directory, 0o755)
        chmod(directory, 0o755)
      }
      _ = try Self.start(sandbox, #"path: "\#(path)", mode: "0666", uids: [65533], profiles: ["work"]"#)
      var environment = sandbox.environment
      environment["AUTHBROKER_SERVER_UID"] = "0"
      for (user, socket, isServed) in [("65533", path, true), ("65532", path, false), ("65533", sandbox.socket, false)]
      {
        environment["AUTHBROKER_SOCKET"] = socket
        let words = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", BuiltPrograms.command, "token"]
        let outcome = try sandbox.run("/usr/bin/setpriv", words, environment: environment)
        #expect((outcome.code == 0) == isServed, "\(user): \(outcome.errors)")
      }
    }
  }
}
