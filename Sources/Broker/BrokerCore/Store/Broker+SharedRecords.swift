import BrokerProtocol

/// Keeps sessions in step with other brokers that have their records: see ``RecordStore``.
extension Broker {
  /// The longest that a refresh may take, from its intent to the end of the provider's answer: the lease of the intent must
  /// outlast it.
  static let longestFlight = Duration.seconds(25)
  /// The pause before an intent is opened again that was refused although nothing newer is there.
  private static let pauseOfReading = Duration.seconds(1)

  /// Stores that sessions are shared in, by their profiles.
  typealias Sharing = [ProfileName: any RecordStore]

  /// The shared stores of the configured profiles.
  var sharing: Sharing { Sharing(slots.map { ($0.name, $0.records) }) }

  /// The store of the session that a step is about, where it is shared.
  func sharedRecords(of step: StoreStep) -> (any RecordStore)? {
    step.recordedProfile.flatMap { holder(of: $0)?.records }
  }

  /// The contents of the broker's own store and of the shared ones; what cannot be read comes with ``readSharedRecords()``.
  static func joined(_ contents: StoreContents, _ sharing: Sharing) async -> StoreContents {
    var all = contents
    for store in sharing.stores {
      guard let more = try? await store.load() else { continue }
      all.records += more.records.filter { sharing[$0.profile] === store }
      all.intents += more.intents.filter { sharing[$0.profile] === store }
    }
    return all
  }

  /// Takes up what other brokers have written.
  package func readSharedRecords() {
    for store in sharing.stores {
      read(store) { broker, contents in
        for slot in broker.slots where slot.records === store { broker.takeUp(contents, on: slot) }
      }
    }
  }

  /// Whether other brokers have a record as well.
  func isShared(_ record: SessionRecord) -> Bool { holder(of: record.profile)?.records != nil }

  /// Keeps in the broker's own store what goes with a record that is durable elsewhere, and tells of it.
  func note(_ save: RecordSave) {
    let profile = save.record.profile
    if !save.events.isEmpty { change(StoreChange(.note, telling: save.events, of: profile)) }
    closeLogins()
    for revocation in logouts.queue.unkept(of: profile) { keep(revocation) }
  }

  /// Whether the lease of an intent, which was decided on at an uptime, outlasts the refresh that is to begin now.
  func leaseOutlasts(_ slot: ProfileSlot, _ since: Duration) -> Bool {
    slot.records?.lease.map { now.uptime - since + Self.longestFlight <= $0 } ?? true
  }

  /// Reads what another broker has written in the meantime, instead of beginning a flight.
  func readAgain(for flight: UInt64, on slot: ProfileSlot) {
    guard let store = slot.records else { return handle(.intentFailed(flight: flight), on: slot) }
    let id = slot.id
    read(store) { broker, contents in
      guard let slot = broker.holder(id) else { return }
      guard let contents else { return broker.handle(.intentFailed(flight: flight), on: slot) }
      broker.takeUp(contents, on: slot)
      // A lease that has begun in between is not shown.
      broker.handle(.intentHeld(flight: flight, for: Self.pauseOfReading), on: slot)
    }
  }

  /// Reads what another broker has written in the place of a record: that holds, unless it is the very record, whose commit
  /// has reported an error.
  func readAgain(instead save: RecordSave) {
    let record = save.record
    guard let slot = holder(of: record.profile), let store = slot.records else {
      return finishSave(of: record, .superseded)
    }
    let id = slot.id
    read(store) { broker, contents in
      guard let slot = broker.holder(id) else { return broker.finishSave(of: record, .superseded) }
      guard let contents else { return broker.settle(save, .failed(context: "reading a shared store")) }
      if contents.records.contains(record) { return broker.settle(save, nil) }
      if slot.machine.generation == record.generation { broker.takeUp(contents, on: slot, isRefused: true) }
      broker.handle(.saveFailed(generation: record.generation), on: slot)
      // A logout that is written once more is waited for.
      if slot.machine.ending == nil {
        broker.finishSave(of: record, slot.machine.living == nil ? nil : .superseded)
      }
    }
  }

  private func read(
    _ store: any RecordStore, then go: @escaping @Sendable (isolated Broker, StoreContents?) -> Void
  ) {
    askStore { _ throws(StoreFailure) in
      try await store.load()
    } then: { broker, result in
      // A vault that is being locked keeps what still comes; one that is being opened reads it once more.
      let isTaken = broker.vault.isOpen || broker.vault.phase == .locking
      go(broker, isTaken ? try? result.get() : nil)
    }
  }

  /// Takes up the record of a profile, unless one of this broker's own is on its way, which may be what was read;
  /// `isRefused` says that it was refused.
  private func takeUp(_ contents: StoreContents?, on slot: ProfileSlot, isRefused: Bool = false) {
    guard isRefused || slot.machine.settledGeneration == slot.machine.generation else { return }
    guard let contents, let record = contents.records.first(where: { $0.profile == slot.name }) else { return }
    let isNews = record.generation > slot.machine.restingGeneration
    if isNews, slot.machine.isOfOtherSession(record) {
      enrolments.end(of: slot.name)
      slot.account.describedAt = nil
      slot.sessions += 1
      slot.provingClient = nil
    }
    let intent = contents.intents.first { $0.profile == slot.name }
    handle(.replacedElsewhere(record, intent: intent), on: slot)
    // The next save of what was replaced is not wanted any more.
    if isNews { journal.forgetRetry(of: slot.name) }
    handle(.sessionChanged(slot.name))
  }
}

extension Broker.Sharing {
  /// The stores of profiles that have one.
  init(_ profiles: [(ProfileName, (any RecordStore)?)]) {
    self = [:]
    for case (let name, let store?) in profiles { self[name] = store }
  }

  /// Each of them once.
  fileprivate var stores: [any RecordStore] {
    var known: Set<ObjectIdentifier> = []
    return values.filter { known.insert(ObjectIdentifier($0)).inserted }
  }
}
