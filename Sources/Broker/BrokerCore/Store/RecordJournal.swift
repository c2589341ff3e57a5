import BrokerProtocol

/// A record on its way to the store, and the changes that go with it.
struct RecordSave: Sendable {
  /// The record.
  let record: SessionRecord
  /// The events to publish once it is durable.
  let events: [EventPayload]
  /// The revocations that are made durable with it.
  let revocations: [PendingRevocation.ID]
  /// Whether the record of a pending login goes with it.
  let closesLogin: Bool
  /// The queued requests that are forgotten with it.
  var requests: [QueuedRequest.ID] = []
}

/// A record that could not be saved, and is tried again.
struct SaveRetry {
  /// The record.
  let record: SessionRecord
  /// The events to publish once it is durable.
  let events: [EventPayload]
  /// How often it failed.
  let failures: Int
  /// The next try; nil while one is under way.
  var timer: TimerCancellation?
}

/// How long a record that could not be saved rests before the next try: from 0.1 s, doubled each time, to 30 s.
///
/// There is no jitter: one disk has one writer.
package enum SaveBackoff {
  /// The first wait: a lock or a burst on the disk is over by then.
  static let shortest = Duration.milliseconds(100)
  /// The longest wait: a person who has made room on a full disk need not wait longer.
  static let longest = Duration.seconds(30)

  /// The wait after `failures` failures in a row.
  package static func delay(afterFailures failures: Int) -> Duration {
    min(shortest * Double(1 << min(max(failures - 1, 0), 10)), longest)
  }
}

/// The records on their way to the store, the work that waits for each, and those to be saved once more.
struct RecordJournal {
  private struct Key: Hashable {
    let profile: ProfileName
    let generation: UInt64
  }

  private var retries: [ProfileName: SaveRetry] = [:]
  /// The profiles whose unsaved record was reported.
  private var reported: Set<ProfileName> = []
  private var settlements: [Key: [Settlement]] = [:]

  /// Whether no record waits to be saved once more.
  var isSaved: Bool { retries.isEmpty }

  /// The profiles whose record waits to be saved once more, sorted.
  var unsaved: [ProfileName] { retries.keys.sorted { $0.description < $1.description } }

  /// The generation of the record of a profile that waits to be saved once more; nil where none does.
  func retriedGeneration(of profile: ProfileName) -> UInt64? { retries[profile]?.record.generation }

  /// How often saving a record has failed.
  func failures(of record: SessionRecord) -> Int {
    retries[record.profile].map { $0.record.generation == record.generation ? $0.failures : 0 } ?? 0
  }

  /// Queues a record to be saved once more, in place of an earlier one of its profile.
  mutating func retry(_ retry: SaveRetry) {
    retries[retry.record.profile]?.timer?.cancel()
    retries[retry.record.profile] = retry
  }

  /// Begins to save the record of a profile once more.
  ///
  /// - Returns: the retry, whose time was not waited for; nil where none waits, or one is under way.
  mutating func beginRetry(of profile: ProfileName) -> SaveRetry? {
    guard let retry = retries[profile], let timer = retry.timer else { return nil }
    timer.cancel()
    retries[profile]?.timer = nil
    return retry
  }

  /// Stops saving the record of a profile once more.
  mutating func forgetRetry(of profile: ProfileName) {
    retries.removeValue(forKey: profile)?.timer?.cancel()
  }

  /// Stops saving the record of a profile once more, since there is none any more that waits to be saved.
  ///
  /// - Returns: whether that ends what ``noteProblem(of:)`` told.
  mutating func dropRetry(of profile: ProfileName) -> Bool {
    forgetRetry(of: profile)
    return reported.remove(profile) != nil
  }

  /// Takes in that a record is durable: it has taken the place of all before it.
  ///
  /// - Returns: whether that ends what ``noteProblem(of:)`` told.
  mutating func noteSaved(_ record: SessionRecord) -> Bool {
    if let retry = retries[record.profile] {
      guard retry.record.generation <= record.generation else { return false }
      forgetRetry(of: record.profile)
    }
    return reported.remove(record.profile) != nil
  }

  /// Takes in that the newest record of a profile could not be saved.
  ///
  /// - Returns: whether that is news.
  mutating func noteProblem(of profile: ProfileName) -> Bool { reported.insert(profile).inserted }

  /// Notes the work that waits for a record.
  mutating func await(_ profile: ProfileName, _ generation: UInt64, _ settlement: Settlement) {
    settlements[Key(profile: profile, generation: generation), default: []].append(settlement)
  }

  /// Has the work that waits for a record wait for a later one, which is written in its place.
  mutating func postpone(_ record: SessionRecord, to generation: UInt64) {
    let work = settlements.removeValue(forKey: Key(profile: record.profile, generation: record.generation)) ?? []
    settlements[Key(profile: record.profile, generation: generation), default: []] += work
  }

  /// Takes out the work that waits for a record, and for all before it, once it is durable; or for this one, once it
  /// has failed.
  mutating func takeSettlements(of record: SessionRecord, isSaved: Bool) -> [Settlement] {
    let ended = settlements.keys.filter { key in
      guard key.profile == record.profile else { return false }
      return isSaved ? key.generation <= record.generation : key.generation == record.generation
    }
    return ended.sorted { $0.generation < $1.generation }.flatMap { settlements.removeValue(forKey: $0) ?? [] }
  }
}
