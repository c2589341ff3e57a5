import JSON
import LinuxSystem
import TestSupport
import Testing

/// `authbroker token --format json` of a real broker in every state of a session.
@Suite(.standardTimeLimit) struct TokenContractTests {
  private static let account = ["--email", "ann@example.com", "--password-stdin"]
  private static let password = "made-up password 1\n"

  private static func ask(_ sandbox: Sandbox, _ words: String...) throws -> Sandbox.Outcome {
    try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state, "token", "--format", "json"] + words)
  }

  private static func register(_ sandbox: Sandbox) throws {
    let words = ["--state", sandbox.state, "register"] + account
    let done = try sandbox.run(BuiltPrograms.command, words, input: password)
    guard done.code == 0 else { throw TestFailure("no account: \(done.errors)") }
  }

  private static func check(_ answer: Sandbox.Outcome) throws -> JSONNode {
    #expect(answer.code == 0 && answer.errors.isEmpty, "\(answer.errors)")
    let root = try JSONDocument(parsing: Array(answer.output.utf8)).root
    // Tokens that live for seconds are never as long as is usual.
    let names = try root.members().map(\.name).filter { $0 != "minValidityCapped" }
    #expect(names == ["accessToken", "tokenType", "expiresAt", "scopes", "profile", "tokenId"])
    #expect(try !root.required("accessToken").string().isEmpty)
    #expect(try root.required("tokenType").string() == "Bearer")
    #expect(try root.required("expiresAt").string().hasSuffix("Z"))
    #expect(try root.required("scopes").kind == .array)
    #expect(try root.required("profile").string() == "default")
    return root
  }

  private static func refused(_ answer: Sandbox.Outcome, _ code: Int32) {
    #expect(answer.code == code && answer.output.isEmpty && answer.errors.hasPrefix("authbroker: "), "\(answer)")
  }

  @Test func `fresh, expired, refused, logged out`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner(try sandbox.configure("{ local: { accessTokenLifetimeSeconds: 3 } }"))
      Self.refused(try Self.ask(sandbox), 3)
      try Self.register(sandbox)
      let first = try Self.check(try Self.ask(sandbox)).required("tokenId").string()
      let isRenewed = Patience.wait {
        (try? Self.check(try Self.ask(sandbox)).required("tokenId").string()) != first
      }
      #expect(isRenewed)
      #expect(try sandbox.command("local", "revoke", "ann@example.com").code == 0)
      _ = try Self.ask(sandbox, "--force-refresh")
      Self.refused(try Self.ask(sandbox), 3)
      #expect(try sandbox.command("logout").code == 0)
      Self.refused(try Self.ask(sandbox), 3)
    }
  }

  @Test func `locked, another profile, an address without a target, no broker`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner(
        try sandbox.configure(#"{ targets: { "https://a.example": "default" } }"#))
      try Self.register(sandbox)
      Self.refused(try Self.ask(sandbox, "--profile", "other"), 2)
      Self.refused(try Self.ask(sandbox, "--url", "https://b.example"), 1)
      let target = try Self.ask(sandbox, "--url", "https://a.example/x")
      #expect(target.code == 0 && target.output.contains(#""target":{"prefix":"https://a.example"}"#), "\(target)")
      #expect(try sandbox.command("lock").code == 0)
      Self.refused(try Self.ask(sandbox), 7)
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      Self.refused(try Self.ask(sandbox, "--no-start"), 8)
    }
  }
}
