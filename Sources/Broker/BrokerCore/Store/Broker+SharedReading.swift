import BrokerProtocol

/// A shared record as a reading was asked for it.
struct AskedRecord: Sendable {
  /// The stay of the profile.
  let slot: SlotID
  /// The version that was taken up before; nil where the record is read whatever version it has.
  let version: Int64?
}

/// The findings of a reading of a shared store, by profiles.
struct SharedReading: Sendable {
  /// The records.
  let records: [ProfileName: SessionRecord]
  /// Refreshes of which it is not known whether they were sent.
  let intents: [ProfileName: RefreshIntent]
  /// Profiles whose record cannot be trusted.
  let tampered: Set<ProfileName>
  /// Profiles whose record was newer before, each with the newest generation that there was.
  let rolledBack: [ProfileName: UInt64]
  /// The versions of records that need not be read again: see ``StoreContents/versions``.
  let versions: [ProfileName: Int64]

  /// The findings in what was read.
  init(_ contents: StoreContents) {
    records = Dictionary(contents.records.map { ($0.profile, $0) }) { first, _ in first }
    intents = Dictionary(contents.intents.map { ($0.profile, $0) }) { first, _ in first }
    tampered = Set(contents.tampered)
    rolledBack = contents.rolledBack
    versions = contents.versions
  }
}

/// Reads shared stores: in each of their periods, when other brokers' writes are told, and when a record must be known.
extension Broker {
  /// Takes up what other brokers have written.
  package func readSharedRecords() {
    for store in sharedStores {
      let id = ObjectIdentifier(store)
      let worker = background.executor
      store.watch { [weak self] in self?.hearNews(of: id, by: worker) }
      readRecords(of: store)
    }
  }

  /// Takes up what was told on any thread; the broker's own needs no other one to get there.
  private nonisolated func hearNews(of id: ObjectIdentifier, by worker: (any TaskExecutor)?) {
    guard executor.isIsolatingCurrentContext() != true else { return assumeIsolated { $0.takeUpNews(of: id) } }
    Task(executorPreference: worker) { await self.takeUpNews(of: id) }
  }

  private func readRecords(of store: any RecordStore) {
    polls.removeValue(forKey: ObjectIdentifier(store))?.cancel()
    // What was told so far is in what is read now.
    _ = store.takeNews()
    takeUp(slots.filter { $0.records === store }, of: store) { $0.poll(store) }
  }

  private func takeUp(
    _ slots: [ProfileSlot], of store: any RecordStore, then go: @escaping @Sendable (isolated Broker) -> Void
  ) {
    let id = ObjectIdentifier(store)
    readings[id, default: 0] += 1
    read(store, slots) { broker, asked, contents in
      for entry in asked {
        if let slot = broker.holder(entry.slot) { broker.takeUp(contents, on: slot, entry) }
      }
      go(broker)
      broker.readings[id, default: 1] -= 1
      broker.takeUpNews(of: id)
    }
  }

  /// Reads the records that other brokers have written, as was told; what is told during a reading is read behind it.
  private func takeUpNews(of id: ObjectIdentifier) {
    guard vault.isOpen, readings[id, default: 0] == 0 else { return }
    guard let store = sharedStores.first(where: { ObjectIdentifier($0) == id }) else { return }
    let news = store.takeNews()
    guard !news.mayBeOfAll else {
      return store.isTold ? readRecords(of: store) : poll(store, within: Self.pausesOfWaiting.schedule)
    }
    let told = news.profiles.compactMap { slot(named: $0) }.filter { $0.records === store }
    if !told.isEmpty { takeUp(told, of: store) { _ in } }
  }

  /// The pauses between readings while another broker's refresh is awaited and its end is not told, with a caller behind it and
  /// without: a refresh takes some hundred milliseconds.
  private static let pausesOfWaiting = (caller: Duration.milliseconds(250), schedule: Duration.seconds(1))

  /// Reads a shared store again after its interval, or soon where another broker's refresh is awaited.
  ///
  /// The time is drawn for each reading, from three quarters of the pause to the whole: the members of a fleet spread. `limit` is
  /// the longest pause.
  func poll(_ store: any RecordStore, within limit: Duration? = nil) {
    guard let interval = store.pollInterval, vault.isOpen else { return }
    let now = self.now
    var pause = min(interval, limit ?? interval)
    if !store.isTold {
      for slot in slots where slot.records === store && slot.machine.isAwaitingOther(at: now) {
        pause = min(pause, slot.machine.demands.isEmpty ? Self.pausesOfWaiting.schedule : Self.pausesOfWaiting.caller)
      }
    }
    let id = ObjectIdentifier(store)
    polls[id]?.cancel()
    polls[id] = schedule(at: now.uptime + pause * (0.75 + entropy.fraction() / 4)) { broker in
      guard broker.vault.isOpen, broker.sharedStores.contains(where: { $0 === store }) else { return }
      broker.readRecords(of: store)
    }
  }

  /// Whether the record of a profile is known; a request that comes before the first reading of a shared store goes on with
  /// it, or is refused with `storeFailed`; `timeout` is the longest that it waits.
  func isKnown<Value>(
    _ slot: ProfileSlot, _ caller: Caller<Value>, timeout: Duration? = nil, again: @escaping Method<Value>
  ) -> Bool {
    guard !slot.isRead, let store = slot.records else { return true }
    let id = caller.id
    slot.awaitingRecord.append(id)
    wait(id) { broker, principal throws(BrokerError) in try again(broker, Caller(id, as: principal)) }
    if let timeout { limit(id, to: timeout) }
    if slot.awaitingRecord.count == 1 { readRecords(of: store) }
    return false
  }

  /// Reads of a shared store what was not taken up yet of some profiles; what cannot be read is nil.
  func read(
    _ store: any RecordStore, _ slots: [ProfileSlot],
    then go: @escaping @Sendable (isolated Broker, [AskedRecord], SharedReading?) -> Void
  ) {
    let asked = slots.map { AskedRecord(slot: $0.id, version: $0.takenUp) }
    askStore { _ throws(StoreFailure) in
      SharedReading(try await store.load(asked.map { KnownRecord($0.slot.profile, version: $0.version) }))
    } then: { broker, result in
      // A vault that is being locked keeps what still comes; one that is being opened reads it once more.
      let isTaken = broker.vault.isOpen || broker.vault.phase == .locking
      go(broker, asked, isTaken ? try? result.get() : nil)
    }
  }
}
