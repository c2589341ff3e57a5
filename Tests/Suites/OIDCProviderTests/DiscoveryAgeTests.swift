import BrokerCore
import BrokerProtocol
import HTTP
import SecretMemory
import Synchronization
import TestServers
import TestSupport
import Testing

@testable import OIDCProvider

/// How long a provider's documents are believed.
@Suite(.standardTimeLimit) struct DiscoveryAgeTests {
  private static let openID = "/.well-known/openid-configuration"

  /// How things are at the provider, and what time it is.
  private final class World: Sendable {
    /// Where the token endpoint is.
    let place = Mutex("/token")
    /// What the documents are answered with.
    let status = Atomic<Int>(200)
    /// What the issuer in them ends with.
    let end = Mutex("")
    /// The clock of the machine's start.
    let seconds = Atomic<Int>(1000)
  }

  private func run(_ body: (OIDCProvider, FakeProvider, World) async throws -> Void) async throws {
    let world = World()
    try await FakeProvider.run { request, issuer in
      let token = world.place.withLock { $0 }
      switch request.path {
      case Self.openID:
        let status = world.status.load(ordering: .relaxed)
        let named = issuer + world.end.withLock { $0 }
        return FakeProvider.Reply(
          status, status == 200 ? #"{"issuer":"\#(named)","token_endpoint":"\#(issuer)\#(token)"}"# : "")
      case token: return FakeProvider.Reply(200, #"{"access_token":"at"}"#)
      default: return .notFound
      }
    } _: { server in
      let uptime: @Sendable () -> Duration = { .seconds(world.seconds.load(ordering: .relaxed)) }
      try await withProvider(OIDCDialect(type: "oidc", issuer: server.issuer), uptime: uptime) { provider in
        try await body(provider, server, world)
      }
    }
  }

  private func refresh(_ provider: OIDCProvider) async -> ProviderFailure? {
    guard let token = try? BoundToken(secret("rt")) else { return .unsupported }
    return await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
  }

  @Test func `profiles of one provider read its documents once, also after a reload`() async throws {
    try await FakeProvider.run { request, issuer in
      request.path == Self.openID
        ? FakeProvider.Reply(200, #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#)
        : FakeProvider.Reply(200, #"{"access_token":"at"}"#)
    } _: { server in
      let client = try HTTPClient(version: "test", proxy: .none, timeouts: .patient)
      var providers: [any AuthProvider] = []
      for (type, scope) in [("oidc", "openid"), ("oidc", "email"), ("other", "openid")] {
        let dialect = OIDCDialect(type: type, issuer: server.issuer, scopes: [scope])
        let configuration = OIDCProfileConfiguration(dialect: dialect, clientID: scope)
        for _ in 0..<2 { providers.append(try configuration.makeProvider(client: client, secrets: noSecret)) }
      }
      for provider in providers { _ = try await provider.refresh(try BoundToken(secret("rt"))) }
      #expect(server.requests(at: Self.openID).count == 1 && server.requests(at: "/token").count == 6)
      var elsewhere = OIDCDialect(type: "oidc", issuer: server.issuer)
      elsewhere.give(server.issuer + "/token", for: .token)
      let configuration = OIDCProfileConfiguration(dialect: elsewhere, clientID: "cli")
      let other = try #require(try configuration.makeProvider(client: client, secrets: noSecret) as? OIDCProvider)
      _ = try await other.discovery.endpoint(.userinfo)
      #expect(server.requests(at: Self.openID).count == 2)
      await client.close()
    }
  }

  @Test func `documents are read again after six hours`() async throws {
    try await run { provider, server, world in
      for (age, reads) in [(0, 1), (21_599, 1), (21_600, 2), (43_199, 2), (43_200, 3)] {
        world.seconds.store(1000 + age, ordering: .relaxed)
        #expect(await refresh(provider) == nil)
        #expect(server.requests(at: Self.openID).count == reads, "\(age)")
      }
    }
  }

  @Test(arguments: [404, 500, 503, 302])
  func `documents that cannot be read again hold for a day`(_ trouble: Int) async throws {
    try await run { provider, server, world in
      #expect(await refresh(provider) == nil)
      world.status.store(trouble, ordering: .relaxed)
      for age in [21_600, 86_399] {
        world.seconds.store(1000 + age, ordering: .relaxed)
        #expect(await refresh(provider) == nil)
      }
      let asked = server.requests(at: "/token").count
      world.seconds.store(1000 + 86_400, ordering: .relaxed)
      guard case .transient = await refresh(provider) else {
        Issue.record("nothing is known any more")
        return
      }
      #expect(server.requests(at: "/token").count == asked)
      world.status.store(200, ordering: .relaxed)
      #expect(await refresh(provider) == nil)
    }
  }

  @Test func `documents hold for a day where the provider names itself otherwise from now on`() async throws {
    try await run { provider, _, world in
      #expect(await refresh(provider) == nil)
      world.end.withLock { $0 = "/" }
      let credentials = try Credentials.ann()
      for age in [21_600, 86_399] {
        world.seconds.store(1000 + age, ordering: .relaxed)
        #expect(await refresh(provider) == nil)
        #expect(await failure { () throws(ProviderFailure) in try await provider.login(credentials) } == nil)
      }
      world.seconds.store(1000 + 86_400, ordering: .relaxed)
      #expect(await refresh(provider) == .transient(.invalidResponse))
      let late = await failure { () throws(ProviderFailure) in try await provider.login(credentials) }
      #expect(late == .misconfigured(.issuer))
    }
  }

  @Test(arguments: ["/", nil])
  func `a login at another device that was begun is not ended by what its provider says of itself`(
    _ end: String?
  ) async throws {
    try await run { provider, _, world in
      let flow = try PendingFlow.device(code: secret("code"), scopes: []).handle()
      if let end { world.end.withLock { $0 = end } } else { world.status.store(404, ordering: .relaxed) }
      let found = await failure { () throws(ProviderFailure) in try await provider.pollUserAction(flow: flow) }
      #expect(found == .transient(.invalidResponse))
      world.end.withLock { $0 = "" }
      world.status.store(200, ordering: .relaxed)
      #expect(await failure { () throws(ProviderFailure) in try await provider.pollUserAction(flow: flow) } == nil)
    }
  }

  @Test func `an endpoint that is not there any more is looked for anew, once a minute at most`() async throws {
    try await run { provider, server, world in
      #expect(await refresh(provider) == nil)
      world.place.withLock { $0 = "/oauth/token" }
      // They were just read: nothing better can be had yet.
      for _ in 0..<3 { #expect(await refresh(provider) == .transient(.providerRejected)) }
      #expect(server.requests(at: Self.openID).count == 1)
      world.seconds.add(60, ordering: .relaxed)
      #expect(await refresh(provider) == .transient(.providerRejected))
      #expect(await refresh(provider) == nil)
      #expect(await refresh(provider) == nil)
      #expect(server.requests(at: Self.openID).count == 2)
    }
  }
}
