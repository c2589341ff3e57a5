import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

/// What the store is asked.
enum StoreQuestion: Sendable {
  case load
  case read
  case commit([StoreStep])
  case events
  case reserve(UInt64)
  case unlock
  case lock

  /// Whether it is to keep something.
  var isCommit: Bool { if case .commit = self { true } else { false } }

  /// Whether it is what the broker shares, or a request's contents.
  var isRead: Bool { if case .read = self { true } else { false } }
}

/// What becomes of it.
enum StoreAnswer: Sendable {
  /// It is done.
  case done
  /// It is not done, and an error is reported.
  case failed
  /// It is done, and an error is reported all the same.
  case doneButFailed
}

/// One life's view of the store: the disk outlives it, and does what the simulation says.
final class SimulatedStore: SessionStore, StoreKeeper {
  private let wire: Wire<StoreQuestion, StoreAnswer>
  private let disk: InMemoryStore
  private let inbox: Inbox

  /// A view of a disk.
  init(_ disk: InMemoryStore, _ wire: Wire<StoreQuestion, StoreAnswer>, _ inbox: Inbox) {
    self.disk = disk
    self.wire = wire
    self.inbox = inbox
  }

  /// What a disk says that is full.
  static let failure = StoreFailure.failed(context: "a disk that is full")

  func load() async throws(StoreFailure) -> StoreContents {
    guard case .done = await wire.ask(.load) else { throw Self.failure }
    return try await disk.load()
  }

  func commit(_ steps: [StoreStep]) async throws(StoreFailure) {
    let answer = await wire.ask(.commit(steps))
    do throws(StoreFailure) {
      if case .failed = answer { throw Self.failure }
      try await disk.commit(steps)
    } catch {
      inbox.add(.refused(steps, isDurable: false))
      throw error
    }
    inbox.add(.committed(steps))
    guard case .doneButFailed = answer else { return }
    inbox.add(.refused(steps, isDurable: true))
    throw Self.failure
  }

  func events(
    after sequence: UInt64, through last: UInt64, limit: Int
  ) async throws(StoreFailure) -> StoredEvents {
    guard case .done = await wire.ask(.events) else { throw Self.failure }
    return try await disk.events(after: sequence, through: last, limit: limit)
  }

  func contents(of request: QueuedRequest.ID) async throws(StoreFailure) -> QueuedContents? {
    guard case .done = await wire.ask(.read) else { throw Self.failure }
    return try await disk.contents(of: request)
  }

  func reserveSequences(through sequence: UInt64) async throws(StoreFailure) {
    guard case .done = await wire.ask(.reserve(sequence)) else { throw Self.failure }
    try await disk.reserveSequences(through: sequence)
    inbox.add(.promised(sequence))
  }

  var status: StoreStatus { get async { disk.statusNow } }

  func unlock(_ passphrase: Secret?) async throws(KeyFailure) {
    guard case .done = await wire.ask(.unlock) else { throw .store(Self.failure) }
    try await disk.unlock(passphrase)
  }

  func lock() async {
    guard case .done = await wire.ask(.lock) else { return }
    await disk.lock()
  }

  func auditState() async throws(StoreFailure) -> AuditState { try await disk.auditState() }

  func appendAudit(_ entries: [AuditEntry]) async throws(StoreFailure) -> AuditHead {
    try await disk.appendAudit(entries)
  }

  func readAudit(after number: Int, since: Timestamp?, profile: ProfileName?) async throws(StoreFailure) -> AuditPage {
    try await disk.readAudit(after: number, since: since, profile: profile)
  }

  func verifyAudit(against head: String?) async throws(StoreFailure) -> AuditVerification {
    try await disk.verifyAudit(against: head)
  }

  func rekey(_ request: Rekey.Params) async throws(KeyFailure) { throw .store(Self.failure) }

  func keep(_ failures: PassphraseFailures) async {}

  func check(isFull: Bool) async throws(StoreFailure) -> [VaultFinding] { [] }
}
