import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

@testable import OIDCProvider

/// What a close look finds where the documents of a provider are not where they should be.
@Suite(.standardTimeLimit) struct ExaminedDocumentTests {
  private static let openID = "/.well-known/openid-configuration"
  private static let oauth = "/.well-known/oauth-authorization-server"

  private func document(_ issuer: String, _ members: String) -> FakeProvider.Reply {
    FakeProvider.Reply(200, #"{"issuer":"\#(issuer)"\#(members)}"#)
  }

  @Test func `an issuer without a document is no advice, but the endpoints of the one that was found are`() async throws
  {
    try await FakeProvider.run { request, issuer in
      guard request.path == "/policy" + Self.openID else { return .notFound }
      return self.document(issuer + "/f00-ba4/v2.0/", #","token_endpoint":"\#(issuer)/policy/token""#)
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer + "/policy")) { provider in
        let advice = await provider.examine().first { $0.check == "issuer" }?.advice ?? ""
        let line =
          #"issuer: "\#(server.issuer)/f00-ba4/v2.0/", discovery: false, "#
          + #"endpoints: { token: "\#(server.issuer)/policy/token" }"#
        #expect(advice.hasPrefix("There is no document at that one") && advice.hasSuffix(line), "\(advice)")
      }
    }
  }

  @Test(arguments: [503, 429, 302])
  func `an issuer whose document cannot be had now is not one without a document`(_ status: Int) async throws {
    try await FakeProvider.run { request, issuer in
      guard request.path == "/policy" + Self.openID else { return FakeProvider.Reply(status, "") }
      return self.document(issuer + "/other", #","token_endpoint":"\#(issuer)/policy/token""#)
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer + "/policy")) { provider in
        let advice = await provider.examine().first { $0.check == "issuer" }?.advice
        #expect(advice == "In the profile's section write: issuer: \"\(server.issuer)/other\"")
      }
    }
  }

  @Test func `the document of RFC 8414 stands in for the other`() async throws {
    try await FakeProvider.run { request, issuer in
      request.path == Self.oauth ? FakeProvider.Reply(200, OIDCProviderTests.document(issuer)) : .notFound
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer)) { provider in
        let found = await provider.examine()
        #expect(found.contains { $0.check == "issuer" && $0.level == .ok } && !found.contains { $0.level == .failure })
      }
    }
  }

  @Test(arguments: [400, 403, 410])
  func `the document of RFC 8414 is looked for wherever a login looks for it`(_ status: Int) async throws {
    try await FakeProvider.run { request, issuer in
      switch request.path {
      // The first form is somebody else's, as the root of a shared host may be.
      case Self.oauth + "/tenant": FakeProvider.Reply(200, OIDCProviderTests.document(issuer, ""))
      case "/tenant" + Self.oauth: FakeProvider.Reply(200, OIDCProviderTests.document(issuer + "/tenant"))
      case "/tenant" + Self.openID: FakeProvider.Reply(status, "{}")
      default: FakeProvider.Reply(200, #"{"access_token":"at"}"#)
      }
    } _: { server in
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer + "/tenant")) { provider in
        let found = await provider.examine()
        #expect(found.contains { $0.check == "issuer" && $0.level == .ok }, "\(found)")
        _ = try await provider.login(.ann())
      }
    }
  }

  @Test(arguments: [true, false])
  func `where the configuration names the endpoints no document is missed`(_ isForeign: Bool) async throws {
    try await FakeProvider.run { request, issuer in
      switch request.path {
      case Self.oauth where isForeign: FakeProvider.Reply(200, OIDCProviderTests.document(issuer + "/"))
      case "/mine": FakeProvider.Reply(200, #"{"access_token":"at"}"#)
      default: .notFound
      }
    } _: { server in
      var dialect = OIDCDialect(type: "oidc", issuer: server.issuer)
      dialect.endpoints[.token] = server.issuer + "/mine"
      try await withProvider(dialect) { provider in
        let found = await provider.examine()
        #expect(found.contains { $0.check == "document" && $0.level == .note }, "\(found)")
        #expect(!found.contains { $0.level == .failure }, "\(found)")
        #expect(found.contains { $0.check == "endpoint.revocation" && $0.level == .warning })
        _ = try await provider.login(.ann())
      }
    }
  }

  @Test func `a provider without a document is asked at its token endpoint`() async throws {
    try await FakeProvider.run(always: FakeProvider.Reply(405, "{}")) { server in
      var dialect = OIDCDialect.github
      dialect.endpoints = [.token: server.issuer + "/token"]
      dialect.issuer = server.issuer
      try await withProvider(dialect) { provider in
        let found = await provider.examine()
        #expect(found.first?.level == .ok && found.contains { $0.check == "document" && $0.level == .note })
        #expect(found.contains { $0.check == "endpoint.revocation" && $0.level == .warning })
      }
      #expect(server.requests.map(\.path) == ["/token"])
    }
  }

  @Test func `the password of a client at a provider without a document is looked for, too`() async throws {
    try await FakeProvider.run(always: FakeProvider.Reply(405, "{}")) { server in
      var dialect = OIDCDialect.github
      dialect.endpoints = [.token: server.issuer + "/token"]
      try await withProvider(dialect, authentication: .post, secrets: noSecret) { provider in
        #expect(await provider.examine().last?.check == "clientSecret")
      }
    }
  }
}
