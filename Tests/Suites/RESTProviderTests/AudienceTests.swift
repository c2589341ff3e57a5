import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestServers
import TestSupport
import Testing

@testable import RESTProvider

/// Tokens for other services than the session's own token is for.
@Suite(.standardTimeLimit) struct AudienceTests {
  private static let orders = TokenTarget(audience: "https://orders.example.com")
  private static let arguments = [
    "--set", "shape=oauth", "--set", #"audiences=["https://orders.example.com"]"#, "--account", ann,
  ]

  private static func mapping(_ names: [RESTEndpoint.Field: String]) -> RESTMapping {
    var mapping = RESTMapping.standard
    mapping.endpoints[.refresh]?.fields.merge(names) { $1 }
    return mapping
  }

  @Test func `a token for another service is asked for as the mapping says, and rotates as a refresh does`()
    async throws
  {
    let mapping = Self.mapping([.audience: "audience", .scope: "scope"])
    try await Backend.run(Self.arguments) { backend in
      try await withProvider(backend, mapping: mapping) { provider in
        let session = try #require(try await provider.login(.ann()).session)
        let first = try #require(session.tokens.refreshToken)
        let other = try await provider.accessToken(for: Self.orders, refreshToken: first)
        #expect(other.accessToken != session.tokens.accessToken && other.scopes == ["read", "write"])
        let second = try #require(other.refreshToken)
        #expect(second != first)
        let target = TokenTarget(scopes: ["read"], audience: Self.orders.audience)
        let narrow = try await provider.accessToken(for: target, refreshToken: second)
        #expect(narrow.scopes == ["read"])
        _ = try await provider.refresh(try #require(narrow.refreshToken))
        let audiences = try await backend.ledger("refresh").map { try $0.optional("audience", String.init(from:)) }
        #expect(audiences == [Self.orders.audience, Self.orders.audience, nil])
      }
    }
  }

  @Test(
    arguments: [
      ([:], orders), ([.scope: "scope"], orders), ([.audience: "aud"], TokenTarget(scopes: ["read"])),
    ] as [([RESTEndpoint.Field: String], TokenTarget)])
  func `what the mapping has no name for is not asked for`(
    _ names: [RESTEndpoint.Field: String], _ target: TokenTarget
  ) async throws {
    try await Backend.run(Self.arguments) { backend in
      try await withProvider(backend, mapping: Self.mapping(names)) { provider in
        #expect(!provider.canGive(target))
        let token = try BoundToken(Secret(utf8: "rt"))
        let refused = await failure { () throws(ProviderFailure) in
          try await provider.accessToken(for: target, refreshToken: token)
        }
        #expect(refused == .unsupported)
        #expect(try await backend.ledger("request").isEmpty)
      }
    }
  }

  @Test func `the backend's own name of a refusal says that the audience is refused, and not the session`()
    async throws
  {
    var named = Self.mapping([.audience: "audience"])
    named.errors.kinds["invalid_target"] = .insufficientScope
    let unnamed = Self.mapping([.audience: "audience"])
    let failures: [(RESTMapping, ProviderFailure)] = [
      (named, .refused(.insufficientScope)), (unnamed, .sessionEnded(.refreshRejected)),
    ]
    for (mapping, wanted) in failures {
      try await Backend.run(Self.arguments) { backend in
        try await withProvider(backend, mapping: mapping) { provider in
          let token = try #require(try await provider.login(.ann()).session?.tokens.refreshToken)
          let refused = await failure { () throws(ProviderFailure) in
            try await provider.accessToken(for: TokenTarget(audience: "urn:other"), refreshToken: token)
          }
          #expect(refused == wanted)
          _ = try await provider.refresh(token)
        }
      }
    }
  }
}
