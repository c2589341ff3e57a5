import Glibc

/// A failure of the database: the result code and what was being done.
///
/// It holds no value that was bound or read, and not SQLite's own message; a statement's text is always a literal of
/// the program. So it may be logged.
package struct SQLiteError: Error, Sendable, CustomStringConvertible {
  /// The operation that failed.
  package enum Operation: Sendable {
    /// Finding, creating or opening the file.
    case open
    /// Setting the connection up: the literal names what was not as it must be.
    case configure(StaticString)
    /// Preparing, binding to or running this SQL.
    case statement(StaticString)
    /// Reading a column of this SQL's result.
    case column(StaticString)
    /// Looking for damage.
    case check
    /// Looking for the tables that the database must have.
    case tables
    /// Looking at a file beside the database, or at the database itself: what is behind its name.
    case companion(StaticString)
    /// Copying the write-ahead log into the database.
    case checkpoint
    /// Closing the connection.
    case close
  }

  /// The result code of SQLite; where this module itself refuses, the code with the same meaning.
  package let code: SQLiteResultCode
  /// The operation that failed.
  package let operation: Operation
  /// The system's error number (errno(3)) where it is known, else 0.
  package let systemError: Int32

  /// Names a failure.
  package init(code: SQLiteResultCode, operation: Operation, systemError: Int32 = 0) {
    self.code = code
    self.operation = operation
    self.systemError = systemError
  }

  /// Whether the disk had no room, as SQLite or the system says.
  package var isDiskFull: Bool { code.primary == .full || [ENOSPC, EDQUOT].contains(systemError) }

  /// Code and operation; never a value.
  package var description: String {
    let during =
      switch operation {
      case .open: "open"
      case .configure(let what): "configure: \(what)"
      case .statement(let sql): "statement: \(sql)"
      case .column(let sql): "column of: \(sql)"
      case .check: "check"
      case .tables: "tables"
      case .companion(let suffix): "file: *\(suffix)"
      case .checkpoint: "checkpoint"
      case .close: "close"
      }
    return "SQLite: \(code), errno \(systemError), \(during)"
  }
}
