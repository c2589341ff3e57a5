package import BrokerCore
package import BrokerProtocol
import Synchronization

/// The audit of a store without a disk.
struct AuditShelf {
  var entries: [AuditEntry] = []
  var failure: StoreFailure?

  var head: AuditHead? {
    guard let last = entries.last else { return nil }
    return AuditHead(
      number: last.number, text: "\(last.number).\(String(repeating: "0", count: AuditHead.chainLength))")
  }
}

extension InMemoryStore {
  /// What each write of the audit throws instead of happening.
  package var auditFailure: StoreFailure? {
    get { shelf.withLock { $0.failure } }
    set { shelf.withLock { $0.failure = newValue } }
  }

  /// The entries of the audit.
  package var audit: [AuditEntry] { shelf.withLock { $0.entries } }

  private func requireOpen() throws(StoreFailure) {
    guard !isLocked else { throw .locked }
  }

  package func auditState() async throws(StoreFailure) -> AuditState {
    try requireOpen()
    return shelf.withLock { shelf in
      let isOpen = shelf.entries.last.map { $0.kind != AuditEntry.Kind.stop.rawValue } ?? false
      return AuditState(head: shelf.head, isInterrupted: isOpen)
    }
  }

  package func appendAudit(_ entries: [AuditEntry]) async throws(StoreFailure) -> AuditHead {
    await pass()
    try requireOpen()
    if let failure { throw failure }
    return try shelf.withLock { shelf throws(StoreFailure) in
      if let failure = shelf.failure { throw failure }
      for var entry in entries {
        entry.number = shelf.entries.count + 1
        shelf.entries.append(entry)
      }
      return shelf.head ?? AuditHead(number: 0, text: "")
    }
  }

  package func readAudit(
    after number: Int, since: Timestamp?, profile: ProfileName?
  ) async throws(StoreFailure) -> AuditPage {
    try requireOpen()
    return shelf.withLock { shelf in
      let page = shelf.entries.dropFirst(number).prefix(200)
      let entries = page.filter { entry in
        (since.map { entry.time >= $0 } ?? true) && (profile.map { entry.profile == $0 || entry.client == nil } ?? true)
      }
      return AuditPage(
        entries: Array(entries), through: page.last?.number ?? shelf.entries.count, head: shelf.head)
    }
  }

  package func verifyAudit(against head: String?) async throws(StoreFailure) -> AuditVerification {
    AuditVerification(count: audit.count, findings: [])
  }
}
