package import BrokerCore

/// What only tests do with a store.
extension SessionStore {
  /// Writes one record, as ``commit(_:)`` does.
  ///
  /// - Throws: as there.
  package func save(_ record: SessionRecord) async throws(StoreFailure) {
    try await commit([.record(record)])
  }

  /// Reads all kept events of a range, however many.
  ///
  /// - Throws: as ``events(after:through:limit:)``.
  package func events(after sequence: UInt64, through last: UInt64) async throws(StoreFailure) -> StoredEvents {
    var all = try await events(after: sequence, through: last, limit: EventRetention.count)
    while all.through < last {
      let next = try await events(after: all.through, through: last, limit: EventRetention.count)
      all.events += next.events
      (all.through, all.completeness) = (next.through, next.completeness)
    }
    return all
  }
}
