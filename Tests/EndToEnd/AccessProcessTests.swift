import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// Rules for the process of a client, and what administrators are told of clients, by a real broker.
@Suite(.standardTimeLimit) struct AccessProcessTests {
  private static let profiles = #"profiles: { default: { provider: "local" }, work: { provider: "local" } }"#

  /// A broker with somebody logged in on both profiles, its configuration to be ended by `rest`.
  private static func start(_ sandbox: Sandbox, _ rest: String = "") throws {
    _ = try sandbox.owner(try sandbox.configure("{ \(profiles), }"))
    let wire = try SocketWire(sandbox.socket)
    for profile in ["default", "work"] {
      let account = #"{"profile":"\#(profile)","email":"\#(profile)@example.com","password":"example password 1"}"#
      _ = try wire.call("register", account)
    }
    if !rest.isEmpty { try reload(sandbox, rest) }
  }

  private static func reload(_ sandbox: Sandbox, _ rest: String) throws {
    _ = try sandbox.configure("{ \(profiles), \(rest) }")
    let owner = try SocketWire(sandbox.socket)
    try owner.prove()
    _ = try owner.call("reloadConfig")
  }

  private static func rule(_ client: String, _ rest: String = "") -> String {
    "access: { rules: [{ client: { \(client) }, profiles: [\"work\"]\(rest) }] }"
  }

  @Test func `the clients are told, with the process behind each`() async throws {
    try await Sandbox.run { sandbox in
      try Self.start(sandbox, Self.rule(#"tool: "editor""#))
      let editor = try SocketWire(sandbox.socket)
      _ = try editor.call("initialize", #"{"client":{"name":"editor"}}"#)
      let answer = try sandbox.command("status", "--clients", "--json")
      let clients = try JSONDocument(parsing: Array(answer.output.utf8)).root["clients"]?.elements() ?? []
      let own = try clients.first { try $0["tool"]?.string() == "editor" }
      #expect(try own?["pid"]?.integer() == Int64(getpid()) && own?["uid"]?.integer() == Int64(geteuid()))
      #expect(try own?["command"]?.string() == ProcessIdentity.program(of: getpid()))
      #expect(try own?["profiles"]?.integer() == 1 && own?["administrative"]?.bool() == false)
      #expect(try clients.contains { try $0["administrative"]?.bool() == true && $0["profiles"]?.integer() == 2 })
      let table = try sandbox.command("status", "--clients")
      #expect(table.output.hasPrefix("PID ") && table.output.contains("editor"), "\(table.output)")
    }
  }

  @Test func `the rule that decides is told, or the socket, or that there is none`() async throws {
    try await Sandbox.run { sandbox in
      let socket = #"sockets: { ci: { profiles: ["work"], uids: ["\#(geteuid())", 65533] } }, "#
      try Self.start(
        sandbox, socket + Self.rule(#"socket: "ci", uid: 65533"#, #", methods: ["getAccessToken"], scopes: ["a"]"#))
      for (words, expected) in [
        (["--by-socket", "ci", "--uid", "65533"], "access.rules[0]: socket ci, uid 65533, profiles work"),
        (["--by-socket", "ci", "--uid", "65533"], "getAccessToken; scopes a"),
        (["--by-socket", "ci", "--uid", "65533"], "the limited socket ci does not have it"),
        (["--by-socket", "ci", "-p", "work"], "no rule matches"), (["--pid", "\(getpid())"], "no rule matches"),
        (["--uid", "65533", "-p", "work"], "the user 65533 may not connect"), ([], "no rule matches"),
      ] {
        let outcome = try sandbox.run(
          BuiltPrograms.command, ["--state", sandbox.state, "access", "explain"] + words)
        #expect(outcome.code == 0 && outcome.output.contains(expected), "\(words): \(outcome.output)\(outcome.errors)")
      }
      let words = [
        "access", "explain", "--by-socket", "ci", "--uid", "65533", "-p", "work", "--method", "login", "--json",
      ]
      let json = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + words)
      #expect(json.output.contains(#""reason":"rule""#) && json.output.contains(#""allowed":false"#), "\(json.output)")
      let unknown = try sandbox.command("access", "explain", "--by-socket", "none")
      #expect(unknown.code == 2 && unknown.errors.contains("the name of a limited socket"), "\(unknown.errors)")
    }
  }

  @Test func `the doctor tells of rules that this kernel does not keep as they read`() async throws {
    try await Sandbox.run { sandbox in
      try Self.start(sandbox, Self.rule(#"unit: "backup.service", label: "snap.editor.*""#))
      let abilities = PeerProcess.abilities()
      for command in [["doctor", "--no-network"], ["config", "check"]] {
        let outcome = try sandbox.run(
          BuiltPrograms.command, ["--state", sandbox.state, "--config", sandbox.root + "/config.json"] + command)
        let text = outcome.output + outcome.errors
        #expect(text.contains("client.label matches no client here") == !abilities.labels, "\(text)")
        #expect(text.contains("client.unit is a label and no boundary here") == !abilities.holdsProcess, "\(text)")
      }
    }
  }

  @Test(.enabled(if: ControlGroup.canBeMade, "only root can make a control group"))
  func `a rule for a unit is for its processes, for those that are connected too, and for no user's unit`() async throws
  {
    try await Sandbox.run { sandbox in
      try Self.start(sandbox)
      let name = "authbroker-test-\(getpid()).service"
      let system = try ControlGroup(["system.slice", name])
      let user = try ControlGroup(["user.slice", "user-\(geteuid()).slice", "user@\(geteuid()).service", name])
      let relays = try [system, user].map { group in
        try group.run(BuiltPrograms.command, ["--state", sandbox.state, "connect"], in: sandbox)
      }
      defer {
        for relay in relays { sandbox.bury(relay) }
        for group in [system, user] { group.remove() }
      }
      func ask(_ relay: Program) throws -> Bool {
        let question = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"profile":"work"}}"#
        try relay.write(Array((question + "\n").utf8))
        var answer: [UInt8] = []
        while answer.last != 0x0A {
          let more = try relay.output.read(until: Patience.end)
          guard !more.isEmpty else { throw TestFailure("no answer: \(relay.errorText)") }
          answer += more
        }
        return String(decoding: answer, as: UTF8.self).contains(#""result""#)
      }
      func token(in group: ControlGroup?) throws -> Int32 {
        let words = ["--state", sandbox.state, "token", "-p", "work"]
        return try group?.run(BuiltPrograms.command, words, in: sandbox).wait()
          ?? sandbox.run(BuiltPrograms.command, words).code
      }
      #expect(try relays.map(ask) == [true, true])
      try Self.reload(sandbox, Self.rule(#"unit: "\#(name)""#))
      #expect(try relays.map(ask) == [true, false])
      #expect(try [token(in: system), token(in: user), token(in: nil)].map { $0 == 0 } == [true, false, false])
      try Self.reload(sandbox, Self.rule(#"unit: "user/authbroker-test-*.service""#))
      #expect(try relays.map(ask) == [false, true])
      #expect(try [token(in: system), token(in: user), token(in: nil)].map { $0 == 0 } == [false, true, false])
      let clients = try sandbox.command("status", "--clients").output
      #expect(clients.contains(" \(name) ") && clients.contains(" user/\(name) "), "\(clients)")
    }
  }
}

/// A control group in the hierarchy of systemd, for the processes of a test.
private struct ControlGroup {
  /// The hierarchy: that of version 2, or the one that systemd has in version 1; nil where there is none.
  private static let root = ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup"].first {
    access($0 + "/cgroup.procs", W_OK) == 0
  }

  /// Whether a test can make one.
  static var canBeMade: Bool { geteuid() == 0 && root != nil }

  private let path: String
  private let made: [String]

  /// Makes the group of these names, and those above it.
  init(_ names: [String]) throws {
    guard var path = Self.root else { throw TestFailure("there are no control groups") }
    var made: [String] = []
    for name in names {
      path += "/" + name
      if mkdir(path, 0o755) == 0 { made.append(path) }
    }
    guard access(path + "/cgroup.procs", W_OK) == 0 else { throw TestFailure("\(path) cannot be made") }
    (self.path, self.made) = (path, made)
  }

  /// Starts a program in it.
  func run(_ program: String, _ arguments: [String], in sandbox: Sandbox) throws -> Program {
    let script = #"echo $$ >"$0" && exec "$@""#
    return try sandbox.start("/bin/sh", ["-c", script, path + "/cgroup.procs", program] + arguments)
  }

  /// Removes what was made, once nothing runs there.
  func remove() {
    for path in made.reversed() { _ = Patience.wait { rmdir(path) == 0 || errno == ENOENT } }
  }
}
