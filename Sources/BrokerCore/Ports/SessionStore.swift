package import BrokerProtocol

/// Where sessions rest, sealed.
///
/// A call returns only after what it was asked is durable.
package protocol SessionStore: Sendable {
  /// Reads everything that the broker needs to start.
  func load() async throws(StoreFailure) -> StoreContents

  /// Writes a profile's record, unless a record with the same or a newer generation is there.
  func save(_ record: SessionRecord) async throws(StoreFailure)

  /// Makes sure that no sequence up to this one is ever given again, after whatever crash.
  func reserveSequences(through sequence: UInt64) async throws(StoreFailure)
}

/// Why the store could not do its work.
package enum StoreFailure: Error, Sendable, Equatable {
  /// The file system refused; `context` names the operation, never a value.
  case failed(context: String)
  /// What is there is not what was written.
  case tampered(profile: ProfileName?)
  /// A record with the same or a newer generation is there: the write came too late.
  case superseded
  /// The key is not there.
  case locked
}

/// Everything that rests in the store when the broker starts.
package struct StoreContents: Sendable {
  /// One record for each profile that ever had a session.
  package var records: [SessionRecord]
  /// Profiles whose record cannot be trusted.
  package var tampered: [ProfileName]
  /// The last sequence that may have been given.
  package var lastSequence: UInt64

  /// The contents.
  package init(records: [SessionRecord], tampered: [ProfileName] = [], lastSequence: UInt64) {
    self.records = records
    self.tampered = tampered
    self.lastSequence = lastSequence
  }
}
