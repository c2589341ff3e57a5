/// A place where several brokers keep records, each with a version: any store with a conditional write can be one.
///
/// The record that holds a token is also the lock on it, so that the two are never apart. Nothing is held over a call: no
/// transaction, and no lock.
package protocol SharedRecord: Sendable {
  /// Reads every record, and the time.
  ///
  /// - Throws: ``SharedRecordFailure``.
  func read() async throws(SharedRecordFailure) -> SharedRows

  /// Reads one record, and the time.
  ///
  /// - Throws: ``SharedRecordFailure``.
  func read(_ name: String) async throws(SharedRecordFailure) -> SharedRows

  /// Reads the records of these names that have another version than is known, and the time.
  ///
  /// - Throws: ``SharedRecordFailure``.
  func read(_ wanted: [WantedRecord]) async throws(SharedRecordFailure) -> SharedRows

  /// Writes a record if it still has the version that the writer has read; it is durable then.
  ///
  /// - Parameters:
  ///   - bytes: the record.
  ///   - name: its name.
  ///   - old: the version that it has; nil for a record that is not there.
  ///   - new: the version that it gets: a higher one.
  ///   - isTold: whether the other brokers are told of it, where the place can tell.
  /// - Returns: whether it was written; false where another one is there.
  /// - Throws: ``SharedRecordFailure``; it may have been written all the same.
  func write(
    _ bytes: [UInt8], as name: String, from old: Int64?, to new: Int64, isTold: Bool
  ) async throws(SharedRecordFailure) -> Bool

  /// Writes several records, each if it still has the version that the writer has read, or none of them; they are durable
  /// then, and the other brokers are told of it.
  ///
  /// - Parameter changes: at least one, each of another record.
  /// - Returns: whether all were written; false where another one is in the place of any.
  /// - Throws: ``SharedRecordFailure``; they may have been written all the same.
  func write(_ changes: [SharedWrite]) async throws(SharedRecordFailure) -> Bool

  /// Has what other brokers write told from the next connection on, as far as the place and the way to it allow that.
  func watch(_ tell: @escaping @Sendable (SharedTelling) -> Void) async

  /// Ends what it has open.
  func close() async
}

/// One of several records that are written together.
package struct SharedWrite: Sendable, Equatable {
  /// The name of the record.
  package var name: String
  /// The record.
  package var bytes: [UInt8]
  /// The version that it has; nil for a record that is not there.
  package var old: Int64?
  /// The version that it gets: a higher one.
  package var new: Int64

  /// A record to write.
  package init(_ bytes: [UInt8], as name: String, from old: Int64?, to new: Int64) {
    (self.name, self.bytes, self.old, self.new) = (name, bytes, old, new)
  }
}

extension SharedRecord {
  /// Writes a record, and tells of it: see ``write(_:as:from:to:isTold:)``.
  ///
  /// - Throws: ``SharedRecordFailure``.
  package func write(
    _ bytes: [UInt8], as name: String, from old: Int64?, to new: Int64
  ) async throws(SharedRecordFailure) -> Bool {
    try await write(bytes, as: name, from: old, to: new, isTold: true)
  }

  /// It cannot tell.
  package func watch(_ tell: @escaping @Sendable (SharedTelling) -> Void) async {}
}

/// A record that is read where it is another one than is known.
package struct WantedRecord: Sendable, Equatable {
  /// The name.
  package var name: String
  /// The version that is known; nil where the record is read whatever version it has.
  package var version: Int64?

  /// A record.
  package init(_ name: String, version: Int64?) { (self.name, self.version) = (name, version) }
}

/// A hint of a place on what others write there: some are never given, and some are late.
package enum SharedTelling: Sendable, Equatable {
  /// Writes are told from now on; what was written before is to be read.
  case began
  /// Writes are told no longer.
  case ended
  /// Another one has written the record of this name with this version.
  case written(String, version: Int64)
  /// Another one has written many records.
  case everything
}

/// One record as it is stored.
package struct SharedRow: Sendable, Equatable {
  /// The version: it grows with each write.
  package var version: Int64
  /// The bytes.
  package var bytes: [UInt8]

  /// A record.
  package init(version: Int64, bytes: [UInt8]) {
    (self.version, self.bytes) = (version, bytes)
  }
}

/// Records as they were read in one instant.
package struct SharedRows: Sendable, Equatable {
  /// The records by their names.
  package var rows: [String: SharedRow]
  /// The names of those that were known and are not there.
  package var gone: [String] = []
  /// That instant by the clock of the place, in milliseconds: the one clock that all brokers share.
  package var time: Int64

  /// Records, and the time.
  package init(rows: [String: SharedRow], time: Int64) {
    (self.rows, self.time) = (rows, time)
  }
}

/// Why records could not be read or written; `reason` is a sentence without a value in it.
package struct SharedRecordFailure: Error, Sendable, Equatable {
  /// The sentence.
  package var reason: String

  /// A failure.
  package init(_ reason: String) { self.reason = reason }
}
