import BrokerCore
import BrokerProtocol
import LinuxSystem
import ProviderKit
import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import OIDCProvider

/// Clients that are registered by themselves: one for each issuer, and another one only at a login.
@Suite(.standardTimeLimit) struct RegisteredClientTests {
  /// A server whose answers a test changes.
  private final class Changing: Sendable {
    let script = Mutex(ResourceScript())
    var now: ResourceScript { script.withLock { $0 } }
    func set(_ change: (inout ResourceScript) -> Void) { script.withLock { change(&$0) } }
    func refuseClient() {
      set { $0.token = { _ in FakeProvider.Reply(401, #"{"error":"invalid_client"}"#) } }
    }
  }

  @Test func `profiles of one issuer share one registration, also when they log in at once`() async throws {
    try await ResourceStage.run {
      ResourceScript()
    } _: { stage in
      let providers = try (0..<3).map { _ in try stage.provider() }
      let actions = try await withThrowingTaskGroup(of: ProviderUserAction?.self) { group in
        for provider in providers {
          group.addTask { try await provider.login(Credentials(method: .browser)).action }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let visits = try actions.map { try BrowserVisit(try #require($0)) }
      #expect(stage.server.requests(at: "/register").count == 1)
      #expect(Set(visits.map { $0.query["client_id"] }).count == 1)
      // Each listens at a port of its own, which was registered.
      let body = try #require(stage.server.requests(at: "/register").first).body
      #expect(Set(visits.map(\.port)).count == 3)
      for visit in visits { #expect(body.contains(":\(visit.port)/callback")) }
      #expect(await stage.memory.all.count == 1)
    }
  }

  @Test func `a session is of its issuer and client, and refreshes there with its resource`() async throws {
    try await ResourceStage.run {
      ResourceScript()
    } _: { stage in
      let provider = try stage.provider()
      let session = try await stage.logIn(provider).session
      let client = try #require(session.tokens.refreshToken?.client)
      #expect(client.resource == stage.server.issuer + "/mcp" && client.issuer == stage.server.issuer)
      let tokens = try await provider.refresh(try #require(session.tokens.refreshToken))
      #expect(tokens.refreshToken?.client == client && tokens.accessToken.client == client)
      let form = try #require(stage.tokenForms.last)
      #expect(form["grant_type"] == "refresh_token" && form["resource"] == client.resource)
      #expect(form["client_id"] == client.id && form["refresh_token"]?.hasPrefix("rt") == true)
      try await provider.revoke(tokens, everywhere: false)
      #expect(stage.server.requests(at: "/revoke").allSatisfy { $0.form["client_id"] == client.id })
    }
  }

  @Test func `a client that the server has forgotten is asked about once more, and kept until a login`() async throws {
    let server = Changing()
    try await ResourceStage.run {
      server.now
    } _: { stage in
      let provider = try stage.provider()
      let begun = try await stage.logIn(provider).session
      let token = try #require(begun.tokens.refreshToken)
      server.refuseClient()
      func refresh() async -> ProviderFailure? {
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      }
      #expect(await refresh() == .transient(.providerRejected, retryAfter: .seconds(60)))
      stage.pass(.seconds(20))
      let asked = stage.tokenForms.count
      #expect(await refresh() == .transient(.providerRejected, retryAfter: .seconds(40)))
      #expect(stage.tokenForms.count == asked, "it is not asked within the minute")
      stage.pass(.seconds(40))
      let refusal = await refresh()
      #expect(refusal == .misconfigured(.registration) && refusal?.kind == .reauthRequired)
      #expect(stage.server.requests(at: "/register").count == 1, "a person who logs in registers another one")
      #expect(await stage.memory.all.map(\.isForgotten) == [true])
      server.set { $0.token = { _ in nil } }
      // It may come back: then the session is as it was.
      _ = try await provider.refresh(token)
      let again = try await stage.logIn(provider).session
      #expect(again.tokens.refreshToken?.client != token.client)
      #expect(stage.server.requests(at: "/register").count == 2)
      #expect(await stage.memory.all.map(\.isForgotten) == [true, false], "the record of the session is kept")
    }
  }

  @Test func `a passing refusal of the client leaves no trace`() async throws {
    let server = Changing()
    try await ResourceStage.run {
      server.now
    } _: { stage in
      let provider = try stage.provider()
      let begun = try await stage.logIn(provider).session
      let token = try #require(begun.tokens.refreshToken)
      server.refuseClient()
      _ = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      server.set { $0.token = { _ in nil } }
      stage.pass(.seconds(60))
      _ = try await provider.refresh(token)
      server.refuseClient()
      let refusal = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      #expect(refusal == .transient(.providerRejected, retryAfter: .seconds(60)))
    }
  }

  @Test func `a login asks first whether the server still knows the client`() async throws {
    let server = Changing()
    try await ResourceStage.run {
      server.now
    } _: { stage in
      let provider = try stage.provider()
      let first = try await stage.logIn(provider)
      let same = try await stage.logIn(provider)
      #expect(same.query["client_id"] == first.query["client_id"])
      server.set { script in
        script.token = { request in
          request.form["refresh_token"]?.hasPrefix("authbroker") == true
            ? FakeProvider.Reply(401, #"{"error":"invalid_client"}"#) : nil
        }
      }
      let other = try await stage.logIn(provider)
      #expect(other.query["client_id"] != first.query["client_id"])
      #expect(stage.server.requests(at: "/register").count == 2)
    }
  }

  @Test func `authorization-server-migration: another server is a new login, and nothing of the old one goes there`()
    async throws
  {
    let server = Changing()
    try await ResourceStage.run {
      server.now
    } _: { stage in
      let provider = try stage.provider()
      let session = try await stage.logIn(provider).session
      let token = try #require(session.tokens.refreshToken)
      server.set { script in
        script.issuerPath = "/second"
        script.metadataPath = "/.well-known/oauth-authorization-server/second"
      }
      stage.pass(.seconds(61))
      let asked = stage.tokenForms.count
      let refusal = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      #expect(refusal == .misconfigured(.movedResource) && refusal?.kind == .reauthRequired)
      #expect(stage.tokenForms.count == asked, "neither server is asked")
      let other = try await stage.logIn(provider)
      let second = try other.session
      let client = try #require(second.tokens.refreshToken?.client)
      #expect(client.issuer == stage.server.issuer + "/second" && client.id != token.client?.id)
      #expect(stage.server.requests(at: "/register").count == 2)
      #expect(stage.tokenForms.last?["client_id"] == client.id)
      // What is left of the old session is ended at its own server.
      try await provider.revoke(session.tokens, everywhere: false)
      #expect(stage.server.requests(at: "/revoke").last?.form["client_id"] == token.client?.id)
    }
  }

  @Test func `a server without registration, or without a proof, is refused before a browser is opened`() async throws {
    for (members, fault) in [
      (#","code_challenge_methods_supported":["S256"]"#, ConfigurationFault.unregistered),
      (#","registration_endpoint":"@/register""#, .proof),
      (#","registration_endpoint":"@/register","code_challenge_methods_supported":["plain"]"#, .proof),
    ] {
      try await ResourceStage.run {
        var script = ResourceScript()
        script.metadataMembers = members
        return script
      } _: { stage in
        let provider = try stage.provider()
        let refusal = await failure { () throws(ProviderFailure) in
          try await provider.login(Credentials(method: .browser))
        }
        #expect(refusal == .misconfigured(fault))
        #expect(stage.server.requests(at: "/register").isEmpty)
      }
    }
  }

  @Test func `a handle names its client, and another one is none`() throws {
    let client = TokenClient(issuer: "https://as.example/a", id: "id with blank", resource: "https://rs.example/?a")
    let flow = try #require(try ResourceFlow(try ResourceFlow(client, try secret("inner\nhandle")).handle()))
    #expect(flow.client == client)
    #expect(flow.inner == (try secret("inner\nhandle")))
    #expect(try ResourceFlow(try secret("one\ntwo")) == nil)
  }

  @Test func `provider-check tells each step`() async throws {
    try await ResourceStage.run {
      var script = ResourceScript()
      script.documentMembers = #","scopes_supported":["mcp:read"]"#
      return script
    } _: { stage in
      let provider = try stage.provider()
      func message(_ check: String) async -> String? { await provider.examine().first { $0.check == check }?.message }
      let document = stage.server.issuer + "/.well-known/oauth-protected-resource/mcp"
      #expect(await message("resource") == "\(document) describes the resource \(stage.server.issuer)/mcp")
      #expect(await message("resource.issuer") == "it names the authorization server \(stage.server.issuer)")
      #expect(await message("resource.scopes") == "asks for mcp:read, as the resource's document says")
      #expect(await message("client")?.contains("at the first login") == true)
      _ = try await stage.logIn(provider)
      #expect(await message("client")?.contains("was registered at") == true)
      #expect(await message("pkce") == "it supports PKCE with S256")
    }
  }
}
