import BrokerCore
import BrokerProtocol
import HTTP
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// What sessions are bound to.
@Suite(.standardTimeLimit) struct BindingTests {
  private func binding(_ change: (inout OIDCDialect) -> Void = { _ in }) async throws -> ProviderBinding {
    var dialect = OIDCDialect(type: "oidc", issuer: "https://op.example.com")
    change(&dialect)
    var found: ProviderBinding?
    try await withProvider(dialect) { found = $0.binding }
    return try #require(found)
  }

  @Test func `without given endpoints it is the type, the issuer and the client, as ever`() async throws {
    #expect(
      try await binding() == ProviderBinding(type: "oidc", issuer: "https://op.example.com", clientID: "cli"))
    var github: ProviderBinding?
    try await withProvider(.github) { github = $0.binding }
    #expect(github == ProviderBinding(type: "github", issuer: "https://github.com/login/oauth", clientID: "cli"))
  }

  @Test func `a given token endpoint is a part of it`() async throws {
    let first = try await binding { $0.give("https://op.example.com/token", for: .token) }
    let other = try await binding { $0.give("https://evil.example/token", for: .token) }
    let path = try await binding { $0.give("https://op.example.com/other/token", for: .token) }
    let none = try await binding()
    #expect(Set([first, other, path, none]).count == 4)
    // One address has many spellings.
    #expect(try await binding { $0.give("HTTPS://OP.example.com:443/token", for: .token) } == first)
  }

  @Test(arguments: [OIDCEndpoint.revocation, .userinfo, .endSession])
  func `any other given endpoint that tokens go to is, by its server`(_ endpoint: OIDCEndpoint) async throws {
    let none = try await binding()
    #expect(try await binding { $0.give("https://op.example.com/x", for: endpoint) } == none)
    let other = try await binding { $0.give("https://api.example.com/x", for: endpoint) }
    #expect(other != none)
    #expect(try await binding { $0.give("https://api.example.com/y", for: endpoint) } == other)
    #expect(try await binding { $0.give("https://evil.example/x", for: endpoint) } != other)
  }

  @Test func `where a person is sent is no part of it`() async throws {
    let none = try await binding()
    for endpoint in [OIDCEndpoint.authorization, .deviceAuthorization] {
      #expect(try await binding { $0.give("https://login.example.com/x", for: endpoint) } == none)
    }
  }
}
