import TestSupport

@testable import SQLite

/// A suite whose databases lie in a folder of its own.
protocol DatabaseOpening {
  /// The folder.
  var directory: Scratch { get }
}

extension DatabaseOpening {
  static var application: Int32 { 0x4142_5445 }

  func open(_ name: String = "test.db") throws(SQLiteError) -> SQLiteConnection {
    try SQLiteConnection(path: directory.file(name), applicationID: Self.application)
  }

  /// What a database answers to something.
  func code(_ body: () throws -> Void) -> SQLiteResultCode? {
    do {
      try body()
      return .ok
    } catch { return (error as? SQLiteError)?.code }
  }
}
