/// Why a database does not have the schema of this program.
package enum MigrationError: Error {
  /// A newer program has written it: this one cannot know what its rows mean, and has changed nothing.
  case newerSchema(found: Int32, supported: Int32)
  /// A step failed and was rolled back; the steps before it stay.
  case failed(version: Int32, cause: any Error)
  /// The schema's number cannot be read.
  case unreadable(SQLiteError)
}
