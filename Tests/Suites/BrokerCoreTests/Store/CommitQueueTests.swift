import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// The queue as a table: what is committed together, and what is told when.
@Suite(.standardTimeLimit) struct CommitQueueTests {
  private static let time = Timestamp(milliseconds: 1_800_000_000_000)

  private func open(after sequence: UInt64 = 10) -> CommitQueue {
    var queue = CommitQueue()
    _ = queue.open(after: sequence)
    return queue
  }

  private func record(_ generation: UInt64, of profile: ProfileName = .default) -> StoreChange {
    let record = SessionRecord(
      profile: profile, binding: ProviderBinding(type: "x"), generation: generation,
      contents: .signedOut(at: Self.time))
    return StoreChange(
      .record, [.record(record)], telling: [.logout(LogoutEvent(reason: .user))], of: profile)
  }

  private func name(_ number: UInt64) throws -> ProfileName { try #require(ProfileName("p\(number)")) }

  private let note = StoreChange(.note, telling: [.userUpdated(UserUpdatedEvent(userID: "u"))], of: .default)
  private let step = StoreChange(.note, [.closeIntent(.default)], of: .default)
  private let transient = StoreChange(.note, telling: [.shuttingDown], of: nil)

  private func add(_ change: StoreChange, _ queue: inout CommitQueue) -> [String] {
    queue.add(change, at: Self.time).actions.summary
  }

  @Test func `a record is committed with its event, which is told afterwards`() {
    var queue = open()
    #expect(add(record(1), &queue) == ["commit record event11"])
    #expect(queue.finished(nil).summary == ["settle 1", "deliver 11 logout"])
    #expect(queue.isIdle)
  }

  @Test func `an event that nobody keeps waits behind those that are kept`() {
    var queue = open()
    _ = add(note, &queue)
    #expect(add(transient, &queue) == ["settle 2"])
    #expect(queue.finished(nil).summary == ["settle 1", "deliver 11 userUpdated", "deliver 12 shuttingDown"])
    #expect(add(transient, &queue) == ["settle 3", "deliver 13 shuttingDown"])
  }

  @Test func `notes that wait together are one commit, and records have others`() {
    var queue = open()
    #expect(add(note, &queue) == ["commit event11"])
    #expect(add(note, &queue).isEmpty && add(step, &queue).isEmpty && add(record(1), &queue).isEmpty)
    #expect(add(note, &queue).isEmpty)
    #expect(queue.finished(nil).summary == ["settle 1", "deliver 11 userUpdated", "commit event12 closeIntent"])
    #expect(
      queue.finished(nil).summary == ["settle 2", "settle 3", "deliver 12 userUpdated", "commit record event13"])
    #expect(queue.finished(nil).summary == ["settle 4", "deliver 13 logout", "commit event14"])
  }

  @Test func `where one of those that were committed together is refused, each has a commit to itself`() throws {
    var queue = open()
    _ = add(step, &queue)
    let other = record(2, of: try name(2))
    #expect(add(record(1), &queue).isEmpty && add(other, &queue).isEmpty)
    #expect(add(note, &queue).isEmpty)
    #expect(queue.finished(nil).summary == ["settle 1", "commit record event11 record event12"])
    #expect(add(record(3), &queue).isEmpty)
    #expect(queue.finished(.superseded).summary == ["commit record event11"])
    #expect(queue.finished(.superseded).summary == ["settle 2 failed", "commit record event12"])
    #expect(queue.finished(nil).summary == ["settle 3", "deliver 12 logout", "commit event13"])
    #expect(queue.finished(nil).summary == ["settle 4", "deliver 13 userUpdated", "commit record event14"])
    #expect(queue.finished(nil).summary == ["settle 5", "deliver 14 logout"])
    #expect(queue.isIdle)
  }

  @Test func `two records of one profile do not share a commit`() {
    var queue = open()
    _ = add(step, &queue)
    #expect(add(record(1), &queue).isEmpty && add(record(2), &queue).isEmpty)
    #expect(queue.finished(nil).summary == ["settle 1", "commit record event11"])
    #expect(queue.finished(nil).summary == ["settle 2", "deliver 11 logout", "commit record event12"])
  }

  @Test func `no more records share a commit than the bound says, nor is a retry among them`() throws {
    var queue = open()
    _ = add(step, &queue)
    for generation in 1...UInt64(CommitQueue.mergedRecords) + 1 {
      _ = add(record(generation, of: try name(generation)), &queue)
    }
    var retry = record(1000)
    retry.isRetry = true
    _ = add(retry, &queue)
    let first = queue.finished(nil).summary.last ?? ""
    #expect(first.split(separator: " ").count { $0 == "record" } == CommitQueue.mergedRecords)
    let second = queue.finished(nil).summary.last ?? ""
    #expect(second.split(separator: " ").count { $0 == "record" } == 1)
    #expect(queue.finished(nil).summary.last == "commit record event\(12 + CommitQueue.mergedRecords)")
  }

  @Test func `a record that is refused takes its events with it, and the retry gets new sequences`() {
    var queue = open()
    _ = add(record(1), &queue)
    _ = add(transient, &queue)
    let failure = StoreFailure.failed(context: "x")
    #expect(queue.finished(failure).summary == ["settle 1 failed", "deliver 12 shuttingDown"])
    // The one that was refused may be kept all the same: whoever reads it again must not take it for what was told.
    #expect(queue.incompleteThrough == 11)
    #expect(add(record(1), &queue) == ["commit incomplete11 record event13"])
    #expect(queue.finished(nil).summary == ["settle 3", "deliver 13 logout"])
    #expect(queue.incompleteThrough == nil)
  }

  @Test func `a lone event that cannot be kept is told, and the gap is marked with the next commit`() {
    var queue = open()
    _ = add(note, &queue)
    let failure = StoreFailure.failed(context: "x")
    #expect(queue.finished(failure).summary == ["settle 1 failed", "deliver 11 userUpdated"])
    #expect(queue.incompleteThrough == 11)
    #expect(add(record(1), &queue) == ["commit incomplete11 record event12"])
    #expect(queue.finished(.superseded).summary == ["settle 2 failed"])
    #expect(add(note, &queue) == ["commit incomplete11 event13"])
    _ = queue.finished(nil)
    #expect(queue.incompleteThrough == nil)
    #expect(add(note, &queue) == ["commit event14"])
  }

  @Test func `a record that was tried before and is there already is told of in its place`() {
    var queue = open()
    _ = add(record(1), &queue)
    #expect(queue.finished(.failed(context: "x")).summary == ["settle 1 failed"])
    var retry = record(1)
    retry.steps.append(.closeLogin(.default))
    retry.isRetry = true
    #expect(add(retry, &queue) == ["commit incomplete11 record closeLogin event12"])
    _ = add(record(2), &queue)
    #expect(queue.finished(.superseded).summary == ["commit incomplete11 closeLogin event12"])
    #expect(queue.finished(nil).summary == ["settle 2", "deliver 12 logout", "commit record event13"])
    #expect(queue.finished(nil).summary == ["settle 3", "deliver 13 logout"])
    #expect(queue.isIdle)
  }

  @Test func `a record that was tried before, is there already and has nothing beside it is settled`() {
    var queue = open()
    var retry = StoreChange(.record, record(1).steps, of: .default)
    retry.isRetry = true
    _ = add(retry, &queue)
    #expect(queue.finished(.superseded).summary == ["settle 1"])
    #expect(queue.isIdle)
  }

  @Test func `what goes with a record that is there already is tried again where it fails`() {
    var queue = open()
    var retry = record(1)
    retry.isRetry = true
    _ = add(retry, &queue)
    #expect(queue.finished(.superseded).summary == ["commit event11"])
    #expect(queue.finished(.failed(context: "x")).summary == ["settle 1 failed"])
    #expect(add(retry, &queue) == ["commit incomplete11 record event12"])
  }

  @Test func `a gap that grows while its mark is written is marked again`() {
    var queue = open()
    _ = add(note, &queue)
    _ = queue.finished(.locked)
    _ = add(note, &queue)
    _ = queue.finished(.locked)
    #expect(queue.incompleteThrough == 12)
    #expect(add(note, &queue) == ["commit incomplete12 event13"])
  }

  @Test func `before the last sequence is known nothing is given or told`() {
    var queue = CommitQueue()
    #expect(add(transient, &queue).isEmpty && add(note, &queue).isEmpty)
    #expect(queue.sequence == 0)
    #expect(queue.open(after: 500).summary == ["settle 1", "deliver 501 shuttingDown", "commit event502"])
    #expect(queue.open(after: 900).isEmpty)
    #expect(queue.sequence == 502)
  }

  @Test func `however changes and failures are mixed, everything settles once and in order`() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      var queue = open(after: 0)
      var (settled, delivered, isCommitting, added): ([UInt64], [UInt64], Bool, UInt64) = ([], [], false, 0)
      func take(_ actions: [CommitQueue.Action]) {
        for action in actions {
          switch action {
          case .commit:
            #expect(!isCommitting)
            isCommitting = true
          case .settle(let id, _): settled.append(id.number)
          case .deliver(let event): delivered.append(event.sequence)
          }
        }
      }
      for _ in 0..<60 {
        if isCommitting, Bool.random(using: &generator) {
          isCommitting = false
          take(queue.finished([nil, .failed(context: "x"), .superseded].randomElement(using: &generator) ?? nil))
        } else {
          added += 1
          let change = [record(added), note, step, transient].randomElement(using: &generator) ?? note
          take(queue.add(change, at: Self.time).actions)
        }
      }
      while isCommitting {
        isCommitting = false
        take(queue.finished(nil))
      }
      #expect(settled.sorted() == Array(1...added))
      #expect(delivered == delivered.sorted() && Set(delivered).count == delivered.count)
      #expect(queue.isIdle)
    }
  }
}

extension [CommitQueue.Action] {
  fileprivate var summary: [String] {
    map { action in
      switch action {
      case .commit(let steps): "commit " + steps.map(\.summary).joined(separator: " ")
      case .settle(let id, let failure): "settle \(id.number)" + (failure == nil ? "" : " failed")
      case .deliver(let event): "deliver \(event.sequence) \(event.payload.name.rawValue)"
      }
    }
  }
}

extension StoreStep {
  fileprivate var summary: String {
    switch self {
    case .record: "record"
    case .openIntent: "openIntent"
    case .closeIntent: "closeIntent"
    case .openLogin: "openLogin"
    case .closeLogin: "closeLogin"
    case .openRevocation: "openRevocation"
    case .closeRevocation: "closeRevocation"
    case .keepRequest: "keepRequest"
    case .forgetRequest: "forgetRequest"
    case .park: "park"
    case .unpark: "unpark"
    case .event(let event): "event\(event.sequence)"
    case .eventsIncomplete(let through): "incomplete\(through)"
    }
  }
}
