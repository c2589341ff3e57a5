import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing
import Vault

/// What a sealed record holds of a session besides its tokens.
@Suite(.standardTimeLimit) struct SessionContentsTests {
  @Test func `what ended because its provider wants to see the user comes back as that`() async throws {
    let place = try TemporaryVault()
    let first = try await place.open()
    var record = try Sample.living("a")
    record.contents = .reauthenticationRequired(at: Timestamp(milliseconds: 7))
    try await first.save(record)
    try await first.close()
    let second = try await place.open()
    #expect(try await second.load().records == [record])
    try await second.close()
  }

  @Test func `what was learnt of a session, and its last use, comes back`() async throws {
    let place = try TemporaryVault()
    let first = try await place.open()
    var record = try Sample.living("a")
    var session = try #require(record.living)
    session.rotatesRefreshToken = false
    session.lastUsedAt = Timestamp(milliseconds: 9)
    record.contents = .living(session)
    try await first.save(record)
    try await first.close()
    let second = try await place.open()
    #expect(try await second.load().records == [record])
    try await second.close()
  }
}
