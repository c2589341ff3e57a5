import Fleet
import LinuxSystem
import PostgreSQL
import Synchronization
import TestSupport
import Testing

/// Notifications of a PostgreSQL server, on the connection that carries out statements.
@Suite(.standardTimeLimit, .enabled(if: RecordPlace.Kind.areComplete, "PostgreSQL or its pool is not installed"))
struct ListeningTests {
  /// What was told.
  private final class Told<Telling: Sendable & Equatable>: Sendable {
    private let list = Mutex<[Telling]>([])
    var all: [Telling] { list.withLock { $0 } }
    func add(_ telling: Telling) { list.withLock { $0.append(telling) } }

    /// Waits until it is the last one.
    func waits(for telling: Telling) async -> Bool {
      (try? await OwnThread.run { Patience.wait { self.all.last == telling } }) ?? false
    }
  }

  /// A database that listens, and what it tells; over a pool where one is named.
  private static func run(
    _ mode: DatabaseCluster.PoolMode?,
    _ body: (DatabaseCluster, PostgreSQL, Told<PostgreSQL.Telling>) async throws -> Void
  ) async throws {
    let cluster = try await OwnThread.run { try DatabaseCluster() }
    let outcome: Result<Void, any Error>
    do {
      let connection = try await OwnThread.run {
        try cluster.ask("CREATE TABLE t (i int)")
        return try mode.map { try cluster.startPool($0, table: "t") } ?? cluster.connection
      }
      let database = PostgreSQL(PostgreSQLSettings(connection: connection)) { .success(nil) }
      let told = Told<PostgreSQL.Telling>()
      await database.listen(on: "c") { told.add($0) }
      do { outcome = .success(try await body(cluster, database, told)) } catch { outcome = .failure(error) }
      await database.close()
    } catch { outcome = .failure(error) }
    try await OwnThread.run { cluster.end() }
    try outcome.get()
  }

  private static func notify(_ payload: String, on cluster: DatabaseCluster, channel: String = "c") async throws {
    try await OwnThread.run { _ = try cluster.ask("NOTIFY \(channel), '\(payload)'") }
  }

  @Test(arguments: [nil, DatabaseCluster.PoolMode.session])
  func `what is notified comes at once, and while it is asked`(
    _ mode: DatabaseCluster.PoolMode?
  ) async throws {
    try await Self.run(mode) { cluster, database, told in
      #expect(told.all.isEmpty)
      _ = try await database.run("SELECT 1")
      #expect(told.all == [.began])
      try await Self.notify("idle", on: cluster)
      #expect(await told.waits(for: .told("idle")))
      // In the middle of a statement, whose answer comes as well.
      async let rows = database.run("SELECT 7::bigint FROM pg_sleep(0.2)")
      try await Self.notify("busy", on: cluster)
      #expect(await told.waits(for: .told("busy")))
      #expect(try await rows.first?.first?.number == 7)
      try await Self.notify("elsewhere", on: cluster, channel: "d")
      try await Self.notify("last", on: cluster)
      #expect(await told.waits(for: .told("last")))
      #expect(told.all == [.began, .told("idle"), .told("busy"), .told("last")])
    }
  }

  @Test func `through a pool that gives connections away it does not listen, nor is one left that does`() async throws {
    try await Self.run(.transaction) { cluster, database, told in
      for _ in 0..<3 {
        let rows = try await database.run("SELECT count(*) FROM pg_listening_channels()")
        #expect(rows.first?.first?.number == 0)
      }
      try await Self.notify("unheard", on: cluster)
      _ = try await database.run("SELECT 1")
      #expect(told.all.isEmpty)
    }
  }

  @Test func `a connection that is lost while nothing is asked is noticed, and the next one listens`() async throws {
    try await Self.run(nil) { cluster, database, told in
      _ = try await database.run("SELECT 1")
      try await OwnThread.run { try cluster.signal(.kill) }
      #expect(await told.waits(for: .ended))
      #expect(told.all == [.began, .ended])
      try await OwnThread.run { try cluster.start() }
      // Between two attempts there is a rest.
      var isThere = false
      while !isThere { isThere = (try? await database.run("SELECT 1")) != nil }
      #expect(told.all.last == .began)
      try await Self.notify("again", on: cluster)
      #expect(await told.waits(for: .told("again")))
    }
  }

  @Test func `a write tells the others of itself, and where nothing was written nobody`() async throws {
    try await Self.run(nil) { cluster, _, _ in
      let records = (1...3).map { index in
        PostgreSQLRecord(
          PostgreSQL(PostgreSQLSettings(connection: cluster.connection)) { .success(nil) },
          fleet: index == 3 ? "g" : "f")
      }
      let told = (1...3).map { _ in Told<SharedTelling>() }
      for (record, told) in zip(records, told) { await record.watch { told.add($0) } }
      try await records[0].prepare()
      for record in records { _ = try await record.read() }
      let writer = records[0]
      #expect(try await writer.write([1], as: "a", from: nil, to: 1) == true)
      #expect(try await writer.write([1], as: "a", from: nil, to: 1) == false)
      #expect(try await writer.write([2], as: "a", from: 1, to: 2, isTold: false) == true)
      #expect(try await writer.write([3], as: "a", from: 1, to: 3) == false)
      #expect(try await writer.write([4], as: "", from: nil, to: 4) == true)
      #expect(await told[1].waits(for: .written("", version: 4)))
      #expect(told[1].all == [.began, .written("a", version: 1), .written("", version: 4)])
      // Neither itself nor another fleet: what was told before came before.
      #expect(told[0].all == [.began] && told[2].all == [.began])
      for record in records { await record.close() }
    }
  }
}
