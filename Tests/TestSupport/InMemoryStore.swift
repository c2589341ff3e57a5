package import BrokerCore
package import BrokerProtocol
import Synchronization

/// A session store without a disk, which fails when it is told to.
package final class InMemoryStore: SessionStore {
  private struct State {
    var records: [ProfileName: SessionRecord] = [:]
    var lastSequence: UInt64 = 0
    var saveCount = 0
    var failure: StoreFailure?
    var events: [BrokerEvent] = []
    var eventsCompleteAfter: UInt64 = 0
    var intents: [ProfileName: RefreshIntent] = [:]
    var logins: [ProfileName: PendingLoginRecord] = [:]

    mutating func take(_ step: StoreStep) {
      switch step {
      case .record(let record):
        records[record.profile] = record
        intents[record.profile] = nil
        saveCount += 1
      case .openIntent(let intent): intents[intent.profile] = intent
      case .closeIntent(let profile): intents[profile] = nil
      case .openLogin(let record): logins[record.login.challenge.profile] = record
      case .closeLogin(let profile): logins[profile] = nil
      case .event(let event): events.append(event)
      case .eventsIncomplete(let through): eventsCompleteAfter = max(eventsCompleteAfter, through)
      }
    }
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
      var contents = StoreContents(
        records: state.records.values.sorted { $0.profile < $1.profile }, lastSequence: state.lastSequence)
      contents.intents = Array(state.intents.values)
      contents.pendingLogins = Array(state.logins.values)
      contents.eventsCompleteAfter = state.eventsCompleteAfter
      return contents
    }
  }

  /// Does all steps, unless a record of them is not newer than what is there.
  package func commit(_ steps: [StoreStep]) async throws(StoreFailure) {
    try state.withLock { state throws(StoreFailure) in
      if let failure = state.failure { throw failure }
      for case .record(let record) in steps {
        if let old = state.records[record.profile], old.generation >= record.generation { throw .superseded }
      }
      for step in steps { state.take(step) }
    }
  }

  /// The kept events between two sequences.
  package func events(after sequence: UInt64, through last: UInt64) async throws(StoreFailure) -> [BrokerEvent] {
    state.withLock { state in state.events.filter { $0.sequence > sequence && $0.sequence <= last } }
  }

  /// Keeps a sequence, if it is later than what is there.
  package func reserveSequences(through sequence: UInt64) async throws(StoreFailure) {
    try state.withLock { state throws(StoreFailure) in
      if let failure = state.failure { throw failure }
      state.lastSequence = max(state.lastSequence, sequence)
    }
  }
}
