import BrokerCore
import BrokerProtocol
import SQLite
import SQLiteStore
import TestSupport
import Testing

/// Queued requests that were changed on the disk: they are not sent, and everything else goes on.
@Suite(.standardTimeLimit) struct VaultQueueTests {
  private static func request(_ number: UInt64) throws -> QueuedRequest {
    QueuedRequest(
      id: QueuedRequest.ID(profile: try #require(ProfileName("a")), number: number), requestID: "r\(number)",
      binding: ProviderBinding(type: "x", issuer: "https://id.example"), user: "u", socket: nil, key: "k\(number)",
      digest: "d", method: .post, url: "https://api.example/x", scopes: nil, audience: nil, timeout: .seconds(30),
      byteCount: 1, queuedAt: Timestamp(milliseconds: 1))
  }

  /// A closed vault with a session and three requests of it.
  private static func filled() async throws -> TemporaryVault {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.commit([.record(Sample.living("a", generation: 1, token: "fake-1"))])
    for number in UInt64(1)...3 {
      try await vault.commit([.keepRequest(try request(number), .request(HeaderFields(), body: [UInt8(number)]))])
    }
    try await vault.close()
    return place
  }

  private static let changes: [StaticString] = [
    "UPDATE queued_request SET sealed = zeroblob(60) WHERE name = 'a/2'",
    "UPDATE queued_request SET sealed = (SELECT sealed FROM queued_request WHERE name = 'a/3') WHERE name = 'a/2'",
    "UPDATE queued_request SET name = 'a/18446744073709551615' WHERE name = 'a/2'",
    "UPDATE queued_request SET name = 'b/2' WHERE name = 'a/2'", "DELETE FROM queued_request WHERE name = 'a/2'",
    "UPDATE queued_request SET format = -1 WHERE name = 'a/2'",
  ]

  @Test(arguments: changes) func `one that was changed is gone, and the session and the other requests are not`(
    _ change: StaticString
  ) async throws {
    let place = try await Self.filled()
    try place.withConnection { try $0.execute(change) }
    let vault = try await place.open()
    let contents = try await vault.load()
    #expect(contents.requests.map(\.id.number) == [1, 3] && contents.records.count == 1 && contents.tampered.isEmpty)
    #expect(contents.isSuspect)
    #expect(try await vault.check(isFull: true).contains { $0.isError && $0.message.contains("queued request") })
    // The next one may get its number, and is kept as any.
    try await vault.commit([.keepRequest(try Self.request(2), .request(HeaderFields(), body: [9]))])
    #expect(try await vault.contents(of: try Self.request(3).id) == .request(HeaderFields(), body: [3]))
    try await vault.close()
    let again = try await place.open()
    #expect(try await again.load().requests.map(\.id.number) == [1, 2, 3])
    #expect(try await again.contents(of: try Self.request(2).id) == .request(HeaderFields(), body: [9]))
    try await again.close()
  }

  @Test func `contents that are gone are nowhere`() async throws {
    let place = try await Self.filled()
    let vault = try await place.open()
    try await vault.commit([.keepRequest(try Self.request(1), .gone)])
    #expect(try await vault.contents(of: try Self.request(1).id) == nil)
    #expect(try await vault.contents(of: try Self.request(2).id) == .request(HeaderFields(), body: [2]))
    try await vault.close()
  }
}
