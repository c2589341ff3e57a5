package import BrokerCore
import BrokerProtocol
import Synchronization

/// A session store without a disk, which fails when it is told to.
package final class InMemoryStore: SessionStore {
  private struct State {
    var records: [ProfileName: SessionRecord] = [:]
    var lastSequence: UInt64 = 0
    var saveCount = 0
    var failure: StoreFailure?
  }

  private let state = Mutex(State())

  /// An empty store that works.
  package init() {}

  /// What each write throws instead of happening; nil for a store that works.
  package var failure: StoreFailure? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  /// How many records were written.
  package var saveCount: Int { state.withLock { $0.saveCount } }

  /// Every record that was written last, by the names of the profiles.
  package var records: [SessionRecord] {
    state.withLock { $0.records.values.sorted { $0.profile < $1.profile } }
  }

  /// Everything that was written, by the names of the profiles.
  package func load() async throws(StoreFailure) -> StoreContents {
    state.withLock { state in
      StoreContents(
        records: state.records.values.sorted { $0.profile < $1.profile }, lastSequence: state.lastSequence)
    }
  }

  /// Keeps a record, if it is newer than what is there.
  package func save(_ record: SessionRecord) async throws(StoreFailure) {
    try state.withLock { state throws(StoreFailure) in
      if let failure = state.failure { throw failure }
      if let old = state.records[record.profile], old.generation >= record.generation { throw .superseded }
      state.records[record.profile] = record
      state.saveCount += 1
    }
  }

  /// Keeps a sequence, if it is later than what is there.
  package func reserveSequences(through sequence: UInt64) async throws(StoreFailure) {
    try state.withLock { state throws(StoreFailure) in
      if let failure = state.failure { throw failure }
      state.lastSequence = max(state.lastSequence, sequence)
    }
  }
}
