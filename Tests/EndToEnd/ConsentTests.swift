import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// Questions to the owner, by real programs: who asks, who answers, and what is remembered.
@Suite(.standardTimeLimit) struct ConsentTests {
  /// A broker with an account, whose rule asks; what stands in `confirm` of its section.
  private static func start(_ sandbox: Sandbox, _ rule: String = #"confirm: "once""#, _ confirm: String = "") throws {
    let text =
      #"{ profiles: { default: { provider: "local" } }, "#
      + "access: { rules: [{ \(rule) }], confirm: { timeoutSeconds: 300, \(confirm) } } }"
    _ = try sandbox.owner(try sandbox.configure(text))
    try SocketWire(sandbox.socket).register()
  }

  /// Starts the command in a session of its own, as agents start theirs.
  private static func ask(_ sandbox: Sandbox) throws -> Program {
    try sandbox.start(
      "/usr/bin/setsid", ["--wait", BuiltPrograms.command, "--state", sandbox.state, "token"], input: .nothing)
  }

  /// The exit code of such a command, and what it has printed.
  private static func end(_ program: Program) throws -> (code: Int32, output: String) {
    let output = String(decoding: try program.output.readToEnd(), as: UTF8.self)
    return (try program.wait(), output + program.errorText)
  }

  private static func questions(_ sandbox: Sandbox) throws -> [JSONNode] {
    let list = try sandbox.command("consent", "list", "--json")
    return try JSONDocument(parsing: Array(list.output.utf8)).root["consents"]?.elements() ?? []
  }

  private static func waitForQuestion(_ sandbox: Sandbox) throws -> JSONNode {
    var found: JSONNode?
    _ = try Patience.wait {
      found = try questions(sandbox).first
      return found != nil
    }
    return try #require(found)
  }

  @Test func `ten commands in ten sessions are one question, once their common ancestor has a consent`() async throws {
    try await Sandbox.run { sandbox in
      try Self.start(sandbox)
      let first = try Self.ask(sandbox)
      let question = try Self.waitForQuestion(sandbox)
      let chain = try question.required("client").required("chain").elements()
      #expect(try chain.first?["command"]?.string() == "authbroker")
      let ancestors = try chain.compactMap { try $0["pid"]?.integer() }
      #expect(ancestors.contains(Int64(getpid())), "\(ancestors)")
      let allowed = try sandbox.command("consent", "allow", "--ancestor", "\(getpid())")
      #expect(allowed.code == 0, "\(allowed.errors)")
      for command in [first] + (try (0..<9).map { _ in try Self.ask(sandbox) }) {
        let end = try Self.end(command)
        #expect(end.code == 0 && end.output.hasPrefix("ey"), "\(end)")
      }
      #expect(try Self.questions(sandbox).isEmpty)
      // The lock ends it.
      _ = try sandbox.command("lock")
      _ = try sandbox.command("unlock")
      let later = try Self.ask(sandbox)
      _ = try Self.waitForQuestion(sandbox)
      #expect(try sandbox.command("consent", "deny").code == 0)
      let end = try Self.end(later)
      #expect(end.code == 6 && end.output.contains("has not allowed this client"), "\(end)")
    }
  }

  @Test func `at a terminal each question is shown as it comes, and a letter answers it`() async throws {
    try await Sandbox.run { sandbox in
      try Self.start(sandbox)
      let asker = try Self.ask(sandbox)
      _ = try Self.waitForQuestion(sandbox)
      let steps = [
        TerminalPlayer.Step(question: "later: ", answer: "x\n"), .init(question: "later: ", answer: "y\n"),
        .init(question: "waiting for the next one", answer: "\u{03}"),
      ]
      let person = try sandbox.run(
        "/usr/bin/env",
        TerminalPlayer.arguments(steps, [BuiltPrograms.command, "--state", sandbox.state, "consent"]))
      for part in ["a token of default (getAccessToken", "process  authbroker (", "allow    gives it to", "allowed"] {
        #expect(person.output.contains(part), "\(part): \(person.output)\(person.errors)")
      }
      let end = try Self.end(asker)
      #expect(end.code == 0 && end.output.hasPrefix("ey"), "\(end)")
    }
  }

  @Test(arguments: [("exit 0", 0), ("exit 1", 6)])
  func `a program of the owner's answers`(_ script: String, _ code: Int32) async throws {
    try await Sandbox.run { sandbox in
      let file = sandbox.root + "/question"
      try Self.start(
        sandbox, #"confirm: "always""#, #"command: ["sh", "-c", "cat >\#(file); \#(script)"]"#)
      let end = try Self.end(try Self.ask(sandbox))
      #expect(end.code == code, "\(end)")
      let question = try JSONDocument(parsing: try Directory.bytes(of: file)).root
      #expect(try question["profile"]?.string() == "default" && question["confirm"]?.string() == "always")
    }
  }

  @Test func `a program that is missing leaves the question to the owner, and the check says so`() async throws {
    try await Sandbox.run { sandbox in
      try Self.start(sandbox, #"confirm: "once""#, #"command: ["no-such-program"]"#)
      let asker = try Self.ask(sandbox)
      _ = try Self.waitForQuestion(sandbox)
      let list = try sandbox.command("consent", "list")
      #expect(
        list.output.contains("a token of default (getAccessToken") && list.output.contains("process  authbroker ("))
      #expect(try sandbox.command("consent", "allow", "--remember", "0s").code == 0)
      let end = try Self.end(asker)
      #expect(end.code == 0, "\(end)")
      for command in [["doctor", "--no-network"], ["config", "check"]] {
        let outcome = try sandbox.run(
          BuiltPrograms.command, ["--state", sandbox.state, "--config", sandbox.root + "/config.json"] + command)
        let text = outcome.output + outcome.errors
        for part in ["access.confirm.command: no-such-program was not found", "access.rules[0] has you asked"] {
          #expect(text.contains(part), "\(part): \(text)")
        }
      }
      let explained = try sandbox.command("access", "explain")
      #expect(explained.output.contains("confirm: once"), "\(explained.output)")
    }
  }
}
