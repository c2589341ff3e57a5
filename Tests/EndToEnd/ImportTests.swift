import JSON
import LinuxSystem
import TestSupport
import Testing

/// A session of another program is taken over, from a real provider.
@Suite(.standardTimeLimit) struct ImportTests {
  private static func object(_ token: String) -> String {
    #"{"refreshToken":"\#(token)","scopes":["openid","profile"]}"#
  }

  @Test func `the broker refreshes once, and the other program's copy is dead`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      let owner = try sandbox.owner(try backend.configure(sandbox))
      let token = try backend.refreshToken(sandbox)
      let done = try sandbox.command("import", "json", input: Self.object(token))
      #expect(done.code == 0 && done.output.isEmpty, "\(done)")
      #expect(done.errors.contains("the other program's copy is no longer valid"), "\(done.errors)")
      #expect(done.errors.contains("authbroker: logged in to default as "), "\(done.errors)")
      let grants = try backend.tokenRequests().map { try $0.required("grantType").string() }
      #expect(grants == ["password", "refresh_token"])
      let access = try sandbox.command("token").output
      #expect(!access.isEmpty)

      let again = try sandbox.command("login", "--refresh-token-stdin", input: token + "\n")
      #expect(again.code == 4 && again.errors.contains("was used before or has expired"), "\(again)")

      var found = Evidence()
      found.marks = [SecretMark("the refresh token", token)]
      found.said = [done.errors, again.errors, done.output, again.output]
      found.collectFiles(sandbox)
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      found.collectFiles(sandbox)
      found.files["standard error"] = Array(owner.errorText.utf8)
      #expect(found.files.count >= 5 && found.leaks.isEmpty, "\(found.leaks)")
    }
  }

  @Test func `the next login revokes what was taken over, and another user is said`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      _ = try sandbox.owner(try backend.configure(sandbox))
      let password = ["login", "--email", "alice", "--password-stdin"]
      func logIn() throws -> Sandbox.Outcome {
        try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + password, input: OIDCBackend.password)
      }
      #expect(try logIn().code == 0)
      let first = try sandbox.command("import", "json", input: Self.object(try backend.refreshToken(sandbox)))
      #expect(first.code == 0 && first.errors.contains("a new login replaces that session"), "\(first)")
      #expect(!first.errors.contains("another user"), "\(first.errors)")
      // The refresh token and the access token of the session that was begun here.
      #expect(Patience.wait { (try? backend.revocations()) == 2 })
      #expect(try sandbox.command("token", "--force-refresh").code == 0)
      #expect(try logIn().code == 0)
      #expect(Patience.wait { (try? backend.revocations()) == 4 })
      let token = try backend.refreshToken(sandbox, user: "bob")
      let other = try sandbox.command("import", "json", input: Self.object(token))
      #expect(
        other.code == 0
          && other.errors.hasSuffix("this is another user than before: the session was alice@example.com's\n"),
        "\(other)")
      #expect(Patience.wait { (try? backend.revocations()) == 6 })
      #expect(try sandbox.command("token", "--force-refresh").code == 0)
    }
  }
}
