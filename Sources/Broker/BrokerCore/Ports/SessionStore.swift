/// Where sessions rest, sealed.
///
/// A call returns only after what it was asked is durable.
package protocol SessionStore: Sendable {
  /// Reads everything that the broker needs to start.
  ///
  /// - Throws: ``StoreFailure/locked`` while the key is not there.
  func load() async throws(StoreFailure) -> StoreContents

  /// Makes all steps durable in one transaction, or none of them.
  ///
  /// - Throws: ``StoreFailure/superseded`` where a record with the same or a newer generation is there.
  func commit(_ steps: [StoreStep]) async throws(StoreFailure)

  /// Reads a page of the kept events after one sequence, up to and with another, and how far back none is missing.
  ///
  /// - Parameters:
  ///   - sequence: where the page begins.
  ///   - last: the last sequence that is wanted.
  ///   - limit: how many events the page may have; it has fewer where they are large.
  /// - Returns: the page.
  /// - Throws: ``StoreFailure/tampered(profile:)`` without a profile where one is not what was written.
  func events(
    after sequence: UInt64, through last: UInt64, limit: Int
  ) async throws(StoreFailure) -> StoredEvents

  /// Makes sure that no sequence up to this one is ever given again, after whatever crash; needs no key.
  func reserveSequences(through sequence: UInt64) async throws(StoreFailure)
}
