/// Brings a database to the schema of this program, one numbered step after the other, never back.
///
/// Each step is one transaction that also stores its number (`PRAGMA user_version`), so an interrupted migration goes on
/// where it was.
package struct Migrator {
  /// One step.
  package struct Migration {
    /// The schema's number after this step.
    package let version: Int32
    /// The work of the step; runs inside its transaction.
    package let apply: (SQLiteConnection) throws -> Void

    /// A step that computes.
    package init(_ version: Int32, apply: @escaping (SQLiteConnection) throws -> Void) {
      self.version = version
      self.apply = apply
    }

    /// A step that only runs statements.
    package init(_ version: Int32, statements: [StaticString]) {
      self.init(version) { connection in
        for statement in statements { try connection.execute(statement) }
      }
    }
  }

  private let migrations: [Migration]
  private let creation: ((SQLiteConnection) throws -> Void)?

  /// The schema's number after the last step.
  package var latestVersion: Int32 { Int32(migrations.count) }

  /// All the steps there are.
  ///
  /// - Parameters:
  ///   - migrations: numbered 1, 2, 3 and so on, in this order. A step that was released never changes.
  ///   - creation: makes the last schema at once, in a database that has none; nil where all steps shall be taken.
  package init(_ migrations: [Migration], creation: ((SQLiteConnection) throws -> Void)? = nil) {
    precondition(migrations.map(\.version).elementsEqual(1..<(Int32(migrations.count) + 1)), "steps count from 1")
    self.migrations = migrations
    self.creation = creation
  }

  /// Applies the steps that the database does not have yet.
  ///
  /// - Returns: the schema's number before.
  /// - Throws: `MigrationError`.
  @discardableResult
  package func migrate(_ connection: SQLiteConnection) throws(MigrationError) -> Int32 {
    let found: Int32
    do { found = try connection.schemaVersion() } catch { throw .unreadable(error) }
    guard found >= 0, found <= latestVersion else { throw .newerSchema(found: found, supported: latestVersion) }
    let steps: ArraySlice<Migration>
    if found == 0, let creation {
      steps = [Migration(latestVersion, apply: creation)]
    } else {
      steps = migrations[Int(found)...]
    }
    for migration in steps {
      do {
        try connection.transaction {
          try migration.apply(connection)
          try connection.setSchemaVersion(migration.version)
        }
      } catch { throw .failed(version: migration.version, cause: error) }
    }
    return found
  }
}
