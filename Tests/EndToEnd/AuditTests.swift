import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// The audit of a real broker: what the command shows, what survives a kill, and what the log's heads are good for.
@Suite(.standardTimeLimit) struct AuditTests {
  private static let configuration = """
    { profiles: { default: { provider: "local" }, work: { provider: "local" } },
      access: { rules: [{ profiles: ["default"] }] } }
    """

  private static func entries(_ sandbox: Sandbox, _ arguments: [String] = []) throws -> [JSONNode] {
    let outcome = try sandbox.run(
      BuiltPrograms.command, ["--state", sandbox.state, "audit", "--json", "--no-start"] + arguments)
    #expect(outcome.code == 0, "\(outcome.errors)")
    return try JSONDocument(parsing: Array(outcome.output.utf8)).root.required("entries").elements()
  }

  private static func kinds(_ entries: [JSONNode]) throws -> [String] {
    try entries.map { try $0.required("kind").string() }
  }

  /// The heads that an owner has logged, in order.
  private static func heads(_ owner: Program) -> [String] {
    owner.errorText.split(separator: "\n").compactMap { line in
      guard line.contains("audit entry=") else { return nil }
      return line.split(separator: "head=").last.map(String.init)
    }
  }

  private static func start(_ sandbox: Sandbox) throws -> Program {
    try sandbox.owner(try sandbox.configure(configuration))
  }

  private static func stop(_ owner: Program, _ sandbox: Sandbox) throws {
    #expect(try sandbox.command("stop").code == 0)
    _ = try owner.wait()
  }

  @Test func `the command shows grants and refusals, never a token, and verifies them`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.start(sandbox)
      try SocketWire(sandbox.socket).register()
      let token = try sandbox.command("token")
      #expect(token.code == 0 && token.output.hasPrefix("ey"))
      #expect(try sandbox.command("token", "--profile", "work").code == 2)
      let entries = try Self.entries(sandbox)
      #expect(try Self.kinds(entries) == ["start", "grant", "refusal"])
      #expect(try entries[1].required("client").required("uid").integer() == Int64(geteuid()))
      let lines = try sandbox.command("audit")
      #expect(lines.output.contains("getAccessToken") && lines.output.contains("unknownProfile"), "\(lines.output)")
      #expect(!lines.output.contains(token.output.prefix(40)))
      #expect(try Self.kinds(Self.entries(sandbox, ["--profile", "work"])) == ["start", "refusal"])
      #expect(try Self.entries(sandbox, ["--since", "2030-01-01T00:00:00Z"]).isEmpty)
      #expect(try sandbox.command("audit", "--since", "yesterday").code == 2)
      let verified = try sandbox.command("audit", "--verify")
      #expect(verified.code == 0 && verified.output.contains("entries are as written"), "\(verified)")
      let head = try #require(Self.heads(owner).first)
      #expect(try sandbox.command("audit", "--verify", head).code == 0)
      try Self.stop(owner, sandbox)
      #expect(Self.heads(owner).count == 2)
    }
  }

  @Test func `a killed broker leaves what was granted, and a gap`() async throws {
    try await Sandbox.run { sandbox in
      let first = try Self.start(sandbox)
      try SocketWire(sandbox.socket).register()
      #expect(try sandbox.command("token").code == 0)
      _ = try Self.entries(sandbox)
      kill(first.pid, SIGKILL)
      try sandbox.awaitNoOwner(of: sandbox.state)
      let second = try Self.start(sandbox)
      #expect(try Self.kinds(Self.entries(sandbox)) == ["start", "grant", "gap", "start"])
      #expect(try sandbox.command("audit", "--verify").code == 0)
      let doctor = try sandbox.command("doctor", "--no-network")
      #expect(doctor.output.contains("audit"), "\(doctor.output)")
      try Self.stop(second, sandbox)
      let third = try Self.start(sandbox)
      #expect(try Self.kinds(Self.entries(sandbox)) == ["start", "grant", "gap", "start", "stop", "start"])
      try Self.stop(third, sandbox)
    }
  }

  @Test func `a whole state directory of before is told by the head of the log alone`() async throws {
    try await Sandbox.run { sandbox in
      let first = try Self.start(sandbox)
      try SocketWire(sandbox.socket).register()
      try Self.stop(first, sandbox)
      let copy = sandbox.root + "/before"
      #expect(try sandbox.run("/bin/cp", ["-a", sandbox.state, copy]).code == 0)
      let second = try Self.start(sandbox)
      #expect(try sandbox.command("token").code == 0)
      try Self.stop(second, sandbox)
      let head = try #require(Self.heads(second).last)
      #expect(try sandbox.run("/bin/sh", ["-c", "rm -r \"$0\" && mv \"$1\" \"$0\"", sandbox.state, copy]).code == 0)
      let third = try Self.start(sandbox)
      #expect(try sandbox.command("audit", "--verify").code == 0)
      let verdict = try sandbox.command("audit", "--verify", head)
      #expect(verdict.code == 1 && verdict.output.contains("the head is"), "\(verdict)")
      try Self.stop(third, sandbox)
    }
  }

  @Test func `without rules and sockets there is none, and a reload turns it on and off`() async throws {
    try await Sandbox.run { sandbox in
      let plain = "{ profiles: { default: { provider: \"local\" } } }"
      let owner = try sandbox.owner(try sandbox.configure(plain))
      try SocketWire(sandbox.socket).register()
      #expect(try sandbox.command("token").code == 0)
      #expect(try Self.entries(sandbox).isEmpty)
      for (configuration, kinds) in [
        (Self.configuration, ["start"]),
        (
          "{ profiles: { default: { provider: \"local\" } }, access: { rules: [{}], audit: false } }",
          ["start", "stop"]
        ),
      ] {
        _ = try sandbox.configure(configuration)
        #expect(try sandbox.command("reload").code == 0)
        #expect(try Self.kinds(Self.entries(sandbox)) == kinds)
      }
      try Self.stop(owner, sandbox)
    }
  }
}
