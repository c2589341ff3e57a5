import LinuxSystem
import SQLite

/// The embedded provider's database as a killed broker has left it.
enum KilledDatabase {
  /// What marks the file as the embedded provider's: `ABLP`.
  private static let applicationID: Int32 = 0x4142_4C50

  /// Opens a copy of the database and its write-ahead log, and looks for damage before another broker can repair it.
  ///
  /// - Throws: `SQLiteError` with `.corrupt` where `PRAGMA integrity_check` or `PRAGMA foreign_key_check` finds any.
  static func check(_ sandbox: Sandbox) throws {
    let (database, copy) = (sandbox.state + "/local-provider/db.sqlite", sandbox.root + "/killed.sqlite")
    for suffix in ["", "-wal"] {
      let bytes = try Directory.bytes(of: database + suffix)
      try FileDescriptor.open(copy + suffix, [.write, .create, .truncate]).writeAll(bytes.span)
    }
    let connection = try SQLiteConnection(
      path: copy, applicationID: applicationID, checking: .full, mustHaveTables: true)
    try connection.close()
  }
}
