import BrokerCore
import BrokerProtocol
import SQLite
import SecretMemory
import TestSupport
import Testing

@testable import Records
@testable import SQLiteStore

/// What a change costs in statements, counted by SQLite: the fewer, the shorter the disk is busy with it.
@Suite(.standardTimeLimit) struct VaultCountTests {
  /// `BEGIN`, the intent, its bucket of the manifest, the head, `COMMIT`.
  private static let statementsOfIntent = 5
  /// `BEGIN`, the record, its intent, the event and the oldest of either series, the bucket, the head, `COMMIT`.
  private static let statementsOfRecord = 9
  /// What each further record of the same commit adds: the record, its intent, the event, the oldest of either series, and
  /// a bucket.
  private static let statementsOfFurtherRecord = 6

  /// One for each table with sealed rows.
  private static let statementsOfLoading = 7

  private func count(_ vault: Vault, _ steps: [StoreStep]) async throws -> Int {
    let before = try await vault.statementRuns
    try await vault.commit(steps)
    return try await vault.statementRuns - before
  }

  private func refresh(_ name: String, _ generation: UInt64, _ sequence: UInt64) throws -> [StoreStep] {
    [.record(try Sample.living(name, generation: generation)), .event(try Sample.event(sequence))]
  }

  @Test func `a refresh runs as many statements as it must`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    // Statements are compiled once, and counted from then on.
    try await vault.commit(refresh("a", 1, 1))
    try await vault.commit([.openIntent(Self.intent(of: "a", 1))])
    try await vault.commit(refresh("a", 2, 2))
    let intent = try await count(vault, [.openIntent(Self.intent(of: "a", 2))])
    #expect((1...Self.statementsOfIntent).contains(intent), "\(intent)")
    let record = try await count(vault, refresh("a", 3, 3))
    #expect((1...Self.statementsOfRecord).contains(record), "\(record)")
    try await vault.close()
  }

  @Test func `records that share a commit share what is around them`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    let names = (0..<20).map { "p\($0)" }
    func steps(_ generation: UInt64, from sequence: UInt64) throws -> [StoreStep] {
      try names.enumerated().flatMap { try refresh($1, generation, sequence + UInt64($0)) }
    }
    try await vault.commit(steps(1, from: 1))
    try await vault.commit(steps(2, from: 100))
    let found = try await count(vault, steps(3, from: 200))
    let most = Self.statementsOfRecord + (names.count - 1) * Self.statementsOfFurtherRecord
    #expect((names.count...most).contains(found), "\(found)")
    try await vault.close()
  }

  @Test func `a start runs as many statements for many sessions as for one, and names them in order`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    var found: [Int] = []
    for count in [1, 40] {
      try await vault.commit((0..<count).map { .record(try Sample.living("p\($0)", generation: UInt64(count))) })
      _ = try await vault.load()
      let before = try await vault.statementRuns
      let contents = try await vault.load()
      found.append(try await vault.statementRuns - before)
      // Not the order of the rows, but that of the names.
      let names = (0..<count).map { "p\($0)" }.sorted()
      #expect(contents.records.map(\.profile.description) == names && contents.tampered.isEmpty)
    }
    #expect(found == [Self.statementsOfLoading, Self.statementsOfLoading])
    try await vault.close()
  }

  private static func intent(of name: String, _ generation: UInt64) throws -> RefreshIntent {
    let profile = try #require(ProfileName(name))
    return RefreshIntent(profile: profile, generation: generation, startedAt: Timestamp(milliseconds: 1_000_000_000))
  }
}

extension Vault {
  /// How often its statements were run so far.
  fileprivate var statementRuns: Int { get throws { try database().runCount } }
}
