import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// Replies that come while the memory for secrets is full.
@Suite(.standardTimeLimit) struct MemoryTests {
  private static let long = String(repeating: "t", count: 6000)

  private func filler(_ arena: SecretArena, _ count: Int) throws -> [Secret] {
    try (0..<count).map { _ in try Secret(copying: [UInt8](repeating: 7, count: 4096).span, in: arena) }
  }

  @Test func `a reply that finds no room is kept, and read when there is some`() async throws {
    let arena = SecretArena(capacity: 64 << 10)
    var full = try filler(arena, 15)
    try await withProvider(
      reply: FakeProvider.Reply(200, #"{"access_token":"\#(Self.long)","refresh_token":"rt2"}"#)
    ) { provider, server in
      let token = try BoundToken(secret("rt1"))
      let refreshing = SecretScope(arena: arena).run { Task { try await provider.refresh(token) } }
      while arena.waiterCount == 0 { await Task.yield() }
      #expect(full.count == 15)
      full = []
      let tokens = try await refreshing.value
      #expect(try tokens.accessToken.value.byteCount == 6000 && tokens.refreshToken?.value == secret("rt2"))
      #expect(server.requests(at: "/token").count == 1)
    }
  }

  @Test func `what was set aside for a reply is there when nothing else is`() async throws {
    let arena = SecretArena(capacity: 64 << 10)
    try await withProvider(
      reply: FakeProvider.Reply(200, #"{"access_token":"\#(Self.long)","refresh_token":"rt2"}"#)
    ) { provider, _ in
      let token = try BoundToken(secret("rt1"))
      let room = try SecretReservation(forByteCounts: [8192, 256, 1024], in: arena)
      var full: [Secret] = []
      while let more = try? Secret(copying: [UInt8](repeating: 7, count: 64).span, in: arena) { full.append(more) }
      let scope = SecretScope(arena: arena, reservation: room)
      let tokens = try await scope.run { Task { try await provider.refresh(token) } }.value
      #expect(tokens.accessToken.value.byteCount == 6000)
      withExtendedLifetime(full) {}
    }
  }

  @Test func `a request that finds no room is not sent`() async throws {
    let arena = SecretArena(capacity: 4096)
    let full = try filler(arena, 1)
    try await withProvider(reply: FakeProvider.Reply(200, "{}", [])) { provider, server in
      let token = try BoundToken(secret("rt1"))
      let refreshing = SecretScope(arena: arena).run {
        Task { await failure { () async throws(ProviderFailure) in try await provider.refresh(token) } }
      }
      #expect(await refreshing.value == .transient(.overloaded))
      #expect(server.requests(at: "/token").isEmpty)
    }
    withExtendedLifetime(full) {}
  }

  @Test func `the handle of a login is as good as before where there is no room to read it`() async throws {
    let arena = SecretArena(capacity: 4096)
    let full = try filler(arena, 1)
    let handle = try PendingFlow.device(code: secret("dc"), scopes: []).handle()
    #expect(throws: SecretMemoryExhausted.self) {
      try SecretScope(arena: arena).run { () throws(SecretMemoryExhausted) in _ = try PendingFlow(handle) }
    }
    withExtendedLifetime(full) {}
  }
}
