import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import Records
@testable import SQLiteStore

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
    session.unrotatedReplies = 2
    session.revocation = .grant
    session.lastUsedAt = Timestamp(milliseconds: 9)
    session.roughlyUsedAt = Timestamp(milliseconds: 10)
    session.lastUsedUptime = .milliseconds(11)
    session.refreshTokenIssuedAt = Timestamp(milliseconds: 12)
    session.isEndTold = true
    session.clock = IssueClock(
      boot: "3b0b7b8e-0000-4000-8000-000000000000", bootedAt: Timestamp(milliseconds: -13),
      providerAhead: .seconds(-7200))
    session.stepUp = StepUp(scopes: ["a", "b\"c"], acrValues: ["urn:mfa"], maxAge: 0, wantsUser: true)
    session.tokens = session.tokens.issued(
      to: TokenClient(issuer: "https://as.example", id: "cl\"ient", resource: "https://rs.example/mcp"))
    record.contents = .living(session)
    try await first.save(record)
    try await first.close()
    let second = try await place.open()
    #expect(try await second.load().records == [record])
    try await second.close()
  }

  @Test(arguments: [false, true])
  func `the key that tokens are bound to comes back with them, also after other keys of the vault`(
    _ isSubject: Bool
  ) async throws {
    let place = try TemporaryVault()
    let first = try await place.open()
    var record = try Sample.living("a")
    var session = try #require(record.living)
    // A key is in DER, so any byte may be in it.
    let key = ProofKey(der: try Secret(copying: [0x30, 0x81, 0x00, 0xFF, 0x22, 0x5C].span))
    if isSubject { session.tokens.accessToken = BoundToken(session.tokens.accessToken.value, .subject) }
    session.tokens = session.tokens.bound(to: key)
    record.contents = .living(session)
    try await first.save(record)
    try await first.rekey(Rekey.Params())
    try await first.close()
    let second = try await place.open()
    let read = try await second.load().records
    #expect(read == [record])
    #expect(read.first?.living?.tokens.refreshToken?.key == key)
    #expect(read.first?.living?.tokens.accessToken.kind == (isSubject ? .subject : .proven))
    try await second.close()
  }

  @Test func `a key that came with a refresh token alone leaves the access token as it was`() throws {
    var session = try #require(try Sample.living("a").living)
    let key = ProofKey(der: try Secret(utf8: "key"))
    session.tokens.refreshToken = session.tokens.refreshToken?.bound(to: key)
    var bytes = SessionContentsCoding.encode(.living(session))
    guard case .living(let read) = try SessionContentsCoding.decode(try Secret(wiping: &bytes)) else { return }
    #expect(read.tokens.refreshToken?.key == key && read.tokens.accessToken.kind == .bearer)
  }

  @Test func `a token that is bound to a key is of a kind that earlier versions do not serve`() throws {
    var session = try #require(try Sample.living("a").living)
    session.tokens = session.tokens.bound(to: ProofKey(der: try Secret(utf8: "key")))
    let bytes = SessionContentsCoding.encode(.living(session))
    #expect(String(decoding: bytes, as: UTF8.self).contains(#""accessTokenKind":"dpop""#))
  }

  @Test func `what an earlier version has learnt from a single reply counts as one reply`() throws {
    let record = try Sample.living("a")
    var session = try #require(record.living)
    session.rotatesRefreshToken = false
    let bytes = SessionContentsCoding.encode(.living(session))
    let text = String(decoding: bytes, as: UTF8.self).replacing(#","unrotatedReplies":0"#, with: "")
    #expect(text.utf8.count < bytes.count)
    guard case .living(let read) = try SessionContentsCoding.decode(try Secret(utf8: text)) else { return }
    #expect(read.rotatesRefreshToken == nil && read.unrotatedReplies == 1 && read.mayRotate)
  }

  @Test func `a record whose members find no room in memory is not taken for a forged one`() async throws {
    let place = try TemporaryVault()
    let first = try await place.open()
    var record = try Sample.living("a")
    guard case .living(var session) = record.contents else { return }
    session.unknownMembers = try Secret(utf8: "\"later\":\"\(String(repeating: "x", count: 1900))\"")
    record.contents = .living(session)
    try await first.save(record)
    try await first.close()
    let second = try await place.open()
    // Room for the record, in which its tokens rest, and none for what a newer version has written besides.
    let arena = SecretArena(capacity: 8192)
    let filler = try [2048, 1].map { try Secret(copying: [UInt8](repeating: 7, count: $0).span, in: arena) }
    let loading = SecretScope(arena: arena).run { Task { _ = try await second.load() } }
    await #expect(throws: StoreFailure.failed(context: VaultError.secretMemoryExhausted.description)) {
      try await loading.value
    }
    withExtendedLifetime(filler) {}
    let contents = try await second.load()
    #expect(contents.records == [record] && contents.tampered.isEmpty)
    try await second.close()
  }
}
