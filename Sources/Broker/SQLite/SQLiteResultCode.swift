import CSQLite

/// A result code of SQLite (sqlite.org/rescode.html), with the extended part where it gave one.
package struct SQLiteResultCode: RawRepresentable, Sendable, Hashable {
  /// The number as SQLite gives it: the low byte is the primary code.
  package let rawValue: Int32

  /// Wraps a number that SQLite returned.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// The code without its extended part: what most decisions are made on.
  package var primary: SQLiteResultCode { SQLiteResultCode(rawValue: rawValue & 0xff) }

  /// Success.
  package static let ok = SQLiteResultCode(rawValue: SQLITE_OK)
  /// A generic failure: mostly wrong SQL.
  package static let error = SQLiteResultCode(rawValue: SQLITE_ERROR)
  /// Access to the file is not as it must be.
  package static let permission = SQLiteResultCode(rawValue: SQLITE_PERM)
  /// Another process holds the database.
  package static let busy = SQLiteResultCode(rawValue: SQLITE_BUSY)
  /// Another connection of this process holds the database.
  package static let locked = SQLiteResultCode(rawValue: SQLITE_LOCKED)
  /// The system refused to read or write.
  package static let inputOutput = SQLiteResultCode(rawValue: SQLITE_IOERR)
  /// The content contradicts itself.
  package static let corrupt = SQLiteResultCode(rawValue: SQLITE_CORRUPT)
  /// The disk is full.
  package static let full = SQLiteResultCode(rawValue: SQLITE_FULL)
  /// The file cannot be opened.
  package static let cannotOpen = SQLiteResultCode(rawValue: SQLITE_CANTOPEN)
  /// A value or statement is longer than the limits allow.
  package static let tooBig = SQLiteResultCode(rawValue: SQLITE_TOOBIG)
  /// A constraint of the schema refused a row.
  package static let constraint = SQLiteResultCode(rawValue: SQLITE_CONSTRAINT)
  /// The row would have the key of another one.
  package static let uniqueConstraint = SQLiteResultCode(rawValue: SQLITE_CONSTRAINT | (8 << 8))
  /// The row would have the primary key of another one.
  package static let primaryKeyConstraint = SQLiteResultCode(rawValue: SQLITE_CONSTRAINT | (6 << 8))
  /// The row refers to one that does not exist.
  package static let foreignKeyConstraint = SQLiteResultCode(rawValue: SQLITE_CONSTRAINT | (3 << 8))
  /// A column has another type than the one that is asked for.
  package static let mismatch = SQLiteResultCode(rawValue: SQLITE_MISMATCH)
  /// The connection is closed.
  package static let misuse = SQLiteResultCode(rawValue: SQLITE_MISUSE)
  /// A parameter has an index that the statement does not have.
  package static let range = SQLiteResultCode(rawValue: SQLITE_RANGE)
  /// The file is no database, or not this program's.
  package static let notADatabase = SQLiteResultCode(rawValue: SQLITE_NOTADB)
}

extension SQLiteResultCode: CustomStringConvertible {
  /// SQLite's English text for the code, and the number.
  package var description: String {
    // sqlite3_errstr returns a static string for every number.
    "\(unsafe String(cString: sqlite3_errstr(rawValue))) (\(rawValue))"
  }
}
