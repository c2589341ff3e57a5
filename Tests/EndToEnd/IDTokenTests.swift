import JSON
import LinuxSystem
import TestSupport
import Testing

/// ID tokens of a real OpenID Connect server.
@Suite(.standardTimeLimit) struct IDTokenTests {
  @Test func `an ID token that is about to end is refreshed, and a script gets it by the command`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox, ["--set", "idTokenLifetimeSeconds=5"])
      _ = try sandbox.owner(try backend.configure(sandbox, "allowIdToken: true,"))
      let wire = try SocketWire(sandbox.socket)
      try backend.logIn(wire)
      let first = try wire.call("getIdToken").required("idToken").string()
      #expect(first.split(separator: ".").count == 3)
      // Four of its five seconds have to pass.
      let isAnother = try Patience.wait { try wire.call("getIdToken").required("idToken").string() != first }
      #expect(isAnother)
      let json = try sandbox.command("token", "--id", "--json")
      let answer = try JSONDocument(parsing: Array(json.output.utf8)).root
      #expect(try answer.required("idToken").string().split(separator: ".").count == 3)
      #expect(try answer.required("expiresAt").string().hasSuffix("Z"))
      #expect(try answer.members().map(\.name) == ["idToken", "expiresAt"])
      #expect(try sandbox.command("token", "--id", "--force-refresh").code == 2)
    }
  }

  @Test func `without the permission of the profile, or without an ID token, there is a clear error`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      let owner = try sandbox.owner(try backend.configure(sandbox))
      let wire = try SocketWire(sandbox.socket)
      try backend.logIn(wire)
      #expect(try wire.refusal("getIdToken") == "accessDenied")
      let refused = try sandbox.command("token", "--id")
      #expect(refused.code == 6 && refused.output.isEmpty && refused.errors.contains("allowIdToken"))
      _ = try backend.configure(sandbox, "allowIdToken: true,")
      _ = try wire.call("reloadConfig")
      #expect(try sandbox.command("token", "--id").code == 0)
      try backend.logIn(wire, scopes: #"["profile"]"#)
      #expect(try wire.refusal("getIdToken") == "unsupportedByProvider")
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
    }
  }
}
