import JSON
import LinuxSystem
import TestSupport
import Testing

/// Tokens for another audience, and sessions of a client itself, at a real OpenID Connect server.
@Suite(.standardTimeLimit) struct OtherTokenTests {
  private static let audience = "https://orders.example.com"

  @Test func `a dozen programs that want a token for an audience share one, and the session goes on`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      _ = try sandbox.owner(try backend.configure(sandbox))
      let wire = try SocketWire(sandbox.socket)
      try backend.logIn(wire, scopes: #"["openid","read"]"#)
      let own = try wire.call("getAccessToken").required("tokenId").string()
      let before = try backend.tokenRequests().count
      let programs = try (0..<12).map { _ in
        try sandbox.start(
          BuiltPrograms.command, ["--state", sandbox.state, "token", "--audience", Self.audience, "--json"],
          input: .nothing)
      }
      let names = try programs.map { program in
        let answer = try JSONDocument(parsing: try program.output.readToEnd(within: Patience.ceiling)).root
        #expect(try program.wait() == 0)
        #expect(try answer.required("audience").string() == Self.audience)
        return try answer.required("tokenId").string()
      }
      #expect(Set(names).count == 1 && names.first != own)
      #expect(try backend.tokenRequests().count == before + 1)
      #expect(try wire.call("getAccessToken").required("tokenId").string() == own)
      #expect(try wire.call("getAccessToken", #"{"scopes":["read"]}"#).required("tokenId").string() == own)
      #expect(try wire.refusal("getAccessToken", #"{"scopes":["unheard-of"]}"#) == "insufficientScope")
      #expect(try wire.call("getAccessToken", #"{"forceRefresh":true}"#).required("tokenId").string() != own)
      #expect(try wire.call("getSession").required("state").string() == "authenticated")
    }
  }

  @Test(arguments: [true, false])
  func `a backend of one's own is asked for another audience where the mapping names it`(_ isNamed: Bool) async throws {
    try await Sandbox.run { sandbox in
      let account = #"{"email":"ada@example.com","password":"example password 1"}"#
      let backend = try RESTBackend(sandbox, account: account, ["--set", #"audiences=["\#(Self.audience)"]"#])
      let mapping = isNamed ? #"mapping: { endpoints: { refresh: { fields: { audience: "audience" } } } }"# : ""
      let profile = #"{ provider: "rest", baseUrl: "\#(backend.url)", \#(mapping) }"#
      _ = try sandbox.owner(try sandbox.configure("{ profiles: { default: \(profile) } }"))
      let wire = try SocketWire(sandbox.socket)
      _ = try wire.call("login", account)
      let own = try wire.accessToken()
      let wish = #"{"audience":"\#(Self.audience)"}"#
      guard isNamed else {
        #expect(try wire.refusal("getAccessToken", wish) == "unsupportedByProvider")
        return #expect(try backend.refreshes().isEmpty)
      }
      let other = try wire.call("getAccessToken", wish)
      #expect(try other.required("accessToken").string() != own)
      #expect(try other.required("audience").string() == Self.audience)
      let again = try wire.call("getAccessToken", wish).required("tokenId").string()
      #expect(try other.required("tokenId").string() == again)
      #expect(try backend.refreshes() == ["rotated"])
      for _ in 1...2 {
        #expect(try wire.refusal("getAccessToken", #"{"audience":"urn:other"}"#) == "insufficientScope")
      }
      #expect(try backend.refreshes() == ["rotated", "rotated"], "the second look at the session settles it")
      #expect(try wire.call("getSession").required("state").string() == "authenticated")
    }
  }

  @Test func `a client that logs in as itself gets new tokens, also after the broker was killed`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      let arguments = try backend.configure(sandbox, client: "machine", scopes: #"["read"]"#)
      let owner = try sandbox.owner(arguments)
      let session = try SocketWire(sandbox.socket).call("login", #"{"method":"clientCredentials"}"#)
      #expect(try session.required("status").string() == "authenticated")
      let first = try SocketWire(sandbox.socket).call("getAccessToken", #"{"forceRefresh":true}"#)
      sandbox.bury(owner)
      _ = try sandbox.owner(arguments)
      let wire = try SocketWire(sandbox.socket)
      #expect(try wire.call("getAccessToken").required("tokenId").string() == first.required("tokenId").string())
      let second = try wire.call("getAccessToken", #"{"forceRefresh":true}"#)
      #expect(try second.required("tokenId").string() != first.required("tokenId").string())
      #expect(try second.required("scopes").elements().map { try $0.string() } == ["read"])
      let requests = try backend.tokenRequests()
      let grants = try requests.map { try $0.required("grantType").string() }
      #expect(grants == Array(repeating: "client_credentials", count: 3))
      let fields = try requests.flatMap { try $0.required("bodyNames").elements().map { try $0.string() } }
      #expect(!fields.contains("refresh_token"))
      #expect(try wire.call("logout").required("results").elements().first?.required("serverRevoked").string() == "yes")
    }
  }
}
