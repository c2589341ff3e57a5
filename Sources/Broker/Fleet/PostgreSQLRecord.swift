import JSON
package import PostgreSQL
import TextCoding

/// The records of one fleet in a table of a PostgreSQL database.
///
/// Each call is one statement, so that a pool which gives its connections away between transactions is fine.
package struct PostgreSQLRecord: SharedRecord {
  /// The table, in the first schema of the role's search path.
  package static let table = "authbroker_fleet"

  /// The channel of NOTIFY: `FLEET`, or `FLEET NAME VERSION ORIGIN` where one record was written.
  package static let channel = "authbroker_fleet"

  private let database: PostgreSQL
  private let fleet: String
  /// Tells the writes of this one from those of others.
  private let origin = String(UInt64.random(in: 0...UInt64.max), radix: 16)

  /// The records of a fleet.
  package init(_ database: PostgreSQL, fleet: String) {
    (self.database, self.fleet) = (database, fleet)
  }

  private static let time = "(extract(epoch from clock_timestamp()) * 1000)::bigint"
  /// The time comes in a row of its own, also where there is no record.
  private static let selection = """
    SELECT \(time), record.name, record.version, record.sealed
    FROM (SELECT 1) AS one LEFT JOIN \(table) AS record ON record.fleet = $1
    """

  package func read() async throws(SharedRecordFailure) -> SharedRows {
    try rows(of: await run(Self.selection, [.text(fleet)]))
  }

  package func read(_ name: String) async throws(SharedRecordFailure) -> SharedRows {
    try rows(of: await run(Self.selection + " AND record.name = $2", [.text(fleet), .text(name)]))
  }

  /// The names that are asked for stand where there is no record; only what is another one than is known comes over.
  private static let differences = """
    SELECT \(time), found.name, found.version, found.sealed
    FROM (SELECT 1) AS one LEFT JOIN (
      SELECT wanted.name, record.version, record.sealed
      FROM unnest($2::text[], $3::bigint[]) AS wanted (name, version)
      LEFT JOIN \(table) AS record ON record.fleet = $1 AND record.name = wanted.name
      WHERE record.version IS DISTINCT FROM wanted.version) AS found ON true
    """

  package func read(_ wanted: [WantedRecord]) async throws(SharedRecordFailure) -> SharedRows {
    let parameters: [PostgreSQL.Parameter] = [
      .text(fleet), .texts(wanted.map(\.name)), .numbers(wanted.map(\.version)),
    ]
    return try rows(of: await run(Self.differences, parameters))
  }

  private func rows(of found: [[PostgreSQL.Value]]) throws(SharedRecordFailure) -> SharedRows {
    guard let time = found.first?.first?.number else {
      throw SharedRecordFailure("the table \(Self.table) is not what it should be")
    }
    var rows = SharedRows(rows: [:], time: time)
    for row in found where row.count == 4 {
      guard let name = row[1].text else { continue }
      guard row[2].bytes != nil else {
        rows.gone.append(name)
        continue
      }
      guard let version = row[2].number, let bytes = row[3].bytes else {
        throw SharedRecordFailure("the table \(Self.table) is not what it should be")
      }
      rows.rows[name] = SharedRow(version: version, bytes: bytes)
    }
    return rows
  }

  /// A commit that is reported is on the disk of the server, whatever the database was set to.
  private static let durable = """
    WITH commits AS MATERIALIZED (SELECT CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
      THEN set_config('synchronous_commit', 'on', true) ELSE '' END AS setting)
    """
  private static let update = """
    \(durable), written AS (
      UPDATE \(table) AS record SET version = $4::bigint, sealed = $3, changed_at = clock_timestamp()
      FROM commits WHERE record.fleet = $1 AND record.name = $2 AND record.version = $5::bigint
        AND commits.setting IS NOT NULL RETURNING record.version)
    """
  private static let insertion = """
    \(durable), written AS (
      INSERT INTO \(table) (fleet, name, sealed, version, changed_at)
      SELECT $1, $2, $3, $4::bigint, clock_timestamp() FROM commits WHERE commits.setting IS NOT NULL
      ON CONFLICT (fleet, name) DO NOTHING RETURNING version)
    """

  package func write(
    _ bytes: [UInt8], as name: String, from old: Int64?, to new: Int64, isTold: Bool
  ) async throws(SharedRecordFailure) -> Bool {
    var parameters: [PostgreSQL.Parameter] = [.text(fleet), .text(name), .bytes(bytes), .number(new)]
    old.map { parameters.append(.number($0)) }
    var answer = "version"
    if isTold {
      parameters.append(.text("\(fleet) \(name) \(new) \(origin)"))
      // Told once the transaction is durable; where nothing was written, not at all.
      answer += ", pg_notify('\(Self.channel)', $\(parameters.count))"
    }
    let change = old == nil ? Self.insertion : Self.update
    return try await !run("\(change) SELECT \(answer) FROM written", parameters).isEmpty
  }

  package func watch(_ tell: @escaping @Sendable (SharedTelling) -> Void) async {
    await database.listen(on: Self.channel) { [fleet, origin] telling in
      switch telling {
      case .began: tell(.began)
      case .ended: tell(.ended)
      case .told(let payload):
        let words = payload.split(separator: " ", omittingEmptySubsequences: false)
        guard words.first.map(String.init) == fleet else { return }
        guard words.count == 4, let version = Int64(words[2]) else { return tell(.everything) }
        if words[3] != origin { tell(.written(String(words[1]), version: version)) }
      }
    }
  }

  /// A division by zero undoes the statement where a record was another one.
  private static let together = """
    \(durable), change AS MATERIALIZED (
      SELECT one.name, one.old, one.new, decode(one.sealed, 'base64') AS sealed FROM commits,
        jsonb_to_recordset($2::jsonb) AS one (name text, old bigint, new bigint, sealed text)
      WHERE commits.setting IS NOT NULL),
    updated AS (UPDATE \(table) AS record SET version = change.new, sealed = change.sealed,
      changed_at = clock_timestamp() FROM change
      WHERE record.fleet = $1 AND record.name = change.name AND record.version = change.old RETURNING 1),
    inserted AS (INSERT INTO \(table) (fleet, name, sealed, version, changed_at)
      SELECT $1, change.name, change.sealed, change.new, clock_timestamp() FROM change WHERE change.old IS NULL
      ON CONFLICT (fleet, name) DO NOTHING RETURNING 1)
    SELECT 1 / ((SELECT count(*) FROM updated) + (SELECT count(*) FROM inserted)
      = (SELECT count(*) FROM change))::int, pg_notify('\(channel)', $1)
    """
  /// The states of a statement that was undone since another one was in its way: division by zero, serialization failure and
  /// deadlock.
  private static let conflicts: Set<String> = ["22012", "40001", "40P01"]

  package func write(_ changes: [SharedWrite]) async throws(SharedRecordFailure) -> Bool {
    var list = JSONWriter()
    list.array { list in
      for change in changes {
        list.object { list in
          list.member("name", change.name)
          list.key("old")
          if let old = change.old { list.integer(old) } else { list.null() }
          list.key("new")
          list.integer(change.new)
          list.member("sealed", String(decoding: Base64.encode(change.bytes.span, as: .padded), as: UTF8.self))
        }
      }
    }
    let text = String(decoding: list.bytes, as: UTF8.self)
    do throws(PostgreSQLError) {
      _ = try await database.run(Self.together, [.text(fleet), .text(text)])
      return true
    } catch .refused(let state, _) where Self.conflicts.contains(state) {
      return false
    } catch {
      throw Self.failure(error)
    }
  }

  /// The statement that makes the table; one that is there stays as it is.
  package static let creation = """
    CREATE TABLE IF NOT EXISTS \(table) (
      fleet text NOT NULL, name text NOT NULL, version bigint NOT NULL, sealed bytea NOT NULL,
      changed_at timestamptz NOT NULL, PRIMARY KEY (fleet, name))
    """

  /// Makes the table, unless it is there.
  ///
  /// - Throws: ``SharedRecordFailure``.
  package func prepare() async throws(SharedRecordFailure) {
    let isThere = try await run("SELECT to_regclass('\(Self.table)') IS NOT NULL AND $1 = $1", [.text(fleet)])
    if isThere.first?.first?.bytes == [1] { return }
    _ = try await run(Self.creation, [])
  }

  package func close() async { await database.close() }

  private func run(
    _ statement: String, _ parameters: [PostgreSQL.Parameter]
  ) async throws(SharedRecordFailure) -> [[PostgreSQL.Value]] {
    do throws(PostgreSQLError) {
      return try await database.run(statement, parameters)
    } catch {
      throw Self.failure(error)
    }
  }

  private static func failure(_ error: PostgreSQLError) -> SharedRecordFailure {
    if case .refused(PostgreSQLError.undefinedTable, _) = error {
      return SharedRecordFailure(
        "there is no table \(table), or the role may not use its schema; run: authbroker fleet init")
    }
    return SharedRecordFailure(error.description)
  }
}
