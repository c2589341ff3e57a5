package import BrokerProtocol

/// The audit before it rests: joins equal facts, and hands entries to the store in batches.
///
/// The laws: a token that was given has an entry, or is counted by a gap; each equal fact of a minute costs one addition;
/// the memory is bounded whatever clients ask for and however long the store refuses; nothing here refuses a request.
///
/// The first of equal facts is an entry at once; the further ones of each minute are one more at its end. So what a broker
/// that is killed loses is the number of repetitions of a minute, and the entries of the last moment, which the next start
/// notes as a gap.
package struct AuditTrail: Sendable {
  /// How long equal facts are joined.
  package static let span = Duration.seconds(60)
  /// How long the first entry of a batch waits for others: what is lost with a killed broker, and one write for all
  /// tokens of a busy moment.
  package static let delay = Duration.milliseconds(500)
  /// The entries that begin a write without waiting: some hundred kilobytes.
  package static let batch = 256
  /// The most entries that wait for the store: a few megabytes, and minutes of a busy machine.
  package static let mostWaiting = 4096
  /// The most different facts that are joined at a time.
  package static let mostJoined = 4096
  /// The most different refusals of one source that are joined each for itself: more than a program has uses for.
  package static let mostRefusals = 16
  /// The most different grants of one source that are joined each for itself: those of many profiles, whose tokens are
  /// renewed.
  package static let mostGrants = 256
  /// How many entries there are between two heads in the log.
  package static let headDistance = 1000

  /// The work to be done for the trail.
  package enum Action: Equatable, Sendable {
    /// Append these to the store, and say how that ended.
    case append([AuditEntry])
    /// Tell the administrator.
    case tell(AuditNotice)
  }

  private struct Joined {
    let id: UInt64
    var until: Duration
    /// When the span began.
    var begun: Timestamp
    var count = 0
    var since: Timestamp?
    var last: Timestamp?
  }

  private struct Loss {
    var count: Int
    let since: Timestamp
  }

  /// Whether facts are noted.
  package private(set) var isOn = false
  private var isStoreOpen = false
  /// Whether it is known how the broker before this one ended.
  private var isBegun = false
  private var joined: [AuditFact: Joined] = [:]
  private var facts: [UInt64: AuditFact] = [:]
  private var openCounts: [AuditSource: Int] = [:]
  /// When the first of the spans ends; nil where there is none.
  private var spanEnd: Duration?
  private var lastID: UInt64 = 0
  private var waiting: [AuditEntry] = []
  /// How many of those that wait are being written.
  private var underWay = 0
  private var failures = 0
  private var loss: Loss?
  /// When the next write begins; nil where nothing waits, or one is under way.
  private var writeTime: Duration?
  private var isHurried = false
  /// Whether the next head is told, whatever its number.
  private var tellsHead = false
  private var toldNumber = 0

  /// A trail that notes nothing.
  package init() {}

  /// Whether everything was written, or cannot be now.
  ///
  /// How the broker before this one ended is soon known, and waited for.
  package var isSettled: Bool {
    let cannot = !isStoreOpen || !isBegun && !isOn || failures > 0
    return underWay == 0 && (waiting.isEmpty && loss == nil || cannot)
  }

  /// Whether it is to be found out how the broker before this one ended.
  package var wantsBeginning: Bool { isOn && isStoreOpen && !isBegun }

  /// When ``tick(at:)`` is next to be called; nil where nothing is due by itself.
  package var nextTick: Duration? { [spanEnd, mayWrite ? writeTime : nil].compactMap(\.self).min() }

  private var mayWrite: Bool { isStoreOpen && isBegun }

  // MARK: The audit itself

  /// Turns it on or off; both are entries.
  package mutating func set(_ isOn: Bool, at now: Moment) -> [Action] {
    guard isOn != self.isOn else { return [] }
    tellsHead = true
    guard isOn else {
      closeSpans(at: now, all: true)
      enqueue(AuditEntry(.stop, at: now.wall), now)
      self.isOn = false
      return hurry(at: now)
    }
    self.isOn = true
    enqueue(AuditEntry(.start, at: now.wall), now)
    return hurry(at: now)
  }

  /// Takes in that the store can be written from now on, or no more.
  package mutating func setStoreOpen(_ isOpen: Bool, at now: Moment) -> [Action] {
    isStoreOpen = isOpen
    return write(at: now)
  }

  /// Takes in how the last broker ended: without a last word its last entries may be missing.
  package mutating func begin(afterInterruption isInterrupted: Bool, at now: Moment) -> [Action] {
    guard !isBegun else { return [] }
    isBegun = true
    if isInterrupted { waiting.insert(AuditEntry(.gap, at: now.wall, count: 0, outcome: "interrupted"), at: 0) }
    return hurry(at: now)
  }

  // MARK: Facts

  /// Notes a fact.
  ///
  /// - Returns: what further ones that are equal can be added to until a moment, nil where nothing is joined; and what is
  ///   to be done.
  package mutating func note(
    _ fact: AuditFact, at now: Moment
  ) -> (span: (id: UInt64, until: Duration)?, actions: [Action]) {
    guard isOn else { return (nil, []) }
    guard let fact = admitted(fact) else {
      lose(1, now)
      return (nil, [])
    }
    if let known = joined[fact], known.until <= now.uptime { roll(fact, at: now) }
    if let known = joined[fact] {
      add(1, to: fact, now)
      return ((known.id, known.until), write(at: now))
    }
    let span = open(fact, now)
    enqueue(fact.entry(at: now.wall), now)
    return (span, write(at: now))
  }

  /// Adds what was counted elsewhere, by the ids of ``note(_:at:)``.
  package mutating func add(_ counts: [UInt64: Int], at now: Moment) {
    for (id, count) in counts where count > 0 {
      guard let fact = facts[id], let begun = joined[fact]?.begun else {
        if isOn { lose(count, now) }
        continue
      }
      // When they were is not known there.
      joined[fact]?.since = begun
      add(count, to: fact, now)
    }
  }

  /// The fact to which one is added: itself, one that is joined with others of its source, or none.
  private func admitted(_ fact: AuditFact) -> AuditFact? {
    if joined[fact] != nil { return fact }
    let most = fact.isGiven ? Self.mostGrants : Self.mostRefusals
    let own = openCounts[fact.source, default: 0] < most ? fact : fact.joined
    return joined[own] != nil || joined.count < Self.mostJoined ? own : nil
  }

  private mutating func open(_ fact: AuditFact, _ now: Moment) -> (id: UInt64, until: Duration) {
    lastID += 1
    let span = Joined(id: lastID, until: Self.end(from: now), begun: now.wall)
    joined[fact] = span
    facts[lastID] = fact
    // Later ones end later, or with it.
    if spanEnd == nil { spanEnd = span.until }
    openCounts[fact.source, default: 0] += 1
    return (span.id, span.until)
  }

  /// The end of a span that begins now, in whole seconds, so that many of them end together.
  private static func end(from now: Moment) -> Duration {
    .seconds((now.uptime + span + .milliseconds(999)).components.seconds)
  }

  private mutating func add(_ count: Int, to fact: AuditFact, _ now: Moment) {
    joined[fact]?.count += count
    joined[fact]?.last = now.wall
    if joined[fact]?.since == nil { joined[fact]?.since = now.wall }
  }

  /// Ends the span of a fact: its repetitions are an entry, and another minute begins for them.
  private mutating func roll(_ fact: AuditFact, at now: Moment, ends: Bool = false) {
    guard var span = joined[fact] else { return }
    if span.count > 0 {
      enqueue(fact.entry(at: span.last ?? now.wall, count: span.count, since: span.since), now)
    }
    guard span.count > 0, !ends else {
      joined[fact] = nil
      facts[span.id] = nil
      let left = openCounts[fact.source, default: 1] - 1
      openCounts[fact.source] = left > 0 ? left : nil
      return
    }
    (span.count, span.since, span.last, span.begun) = (0, nil, nil, now.wall)
    span.until = Self.end(from: now)
    joined[fact] = span
  }

  private mutating func closeSpans(at now: Moment, all: Bool = false) {
    let due = joined.filter { all || $0.value.until <= now.uptime }.sorted { $0.value.id < $1.value.id }
    for (fact, _) in due { roll(fact, at: now, ends: all) }
    spanEnd = joined.values.lazy.map(\.until).min()
  }

  // MARK: Writing

  /// Does what is due.
  package mutating func tick(at now: Moment) -> [Action] {
    closeSpans(at: now)
    return write(at: now)
  }

  /// Writes what waits without a delay; with the repetitions so far where the keys are about to go.
  package mutating func hurry(at now: Moment, withRepetitions: Bool = false) -> [Action] {
    if withRepetitions { closeSpans(at: now, all: true) }
    isHurried = !waiting.isEmpty || loss != nil
    return write(at: now)
  }

  /// Takes in that a batch is durable, and the head of the audit behind it.
  package mutating func appended(_ head: AuditHead, at now: Moment) -> [Action] {
    waiting.removeFirst(underWay)
    underWay = 0
    var actions: [Action] = []
    if failures > 0 { actions.append(.tell(.written)) }
    failures = 0
    if head.number / Self.headDistance > toldNumber / Self.headDistance || tellsHead && waiting.isEmpty && loss == nil {
      (tellsHead, toldNumber) = (false, head.number)
      actions.append(.tell(.head(head)))
    }
    let isDone = waiting.isEmpty && loss == nil
    writeTime = isDone ? nil : now.uptime + Self.delay
    if isDone { isHurried = false }
    return actions + write(at: now)
  }

  /// Takes in that a batch could not be written; it is tried again, with what has come since.
  package mutating func failed(at now: Moment) -> [Action] {
    underWay = 0
    isHurried = false
    failures += 1
    writeTime = now.uptime + SaveBackoff.delay(afterFailures: failures)
    return failures == 1 ? [.tell(.notWritten)] : []
  }

  private mutating func write(at now: Moment) -> [Action] {
    guard mayWrite, underWay == 0, !waiting.isEmpty || loss != nil else { return [] }
    let isFull = waiting.count >= Self.batch && failures == 0
    guard isHurried || isFull || writeTime.map({ $0 <= now.uptime }) ?? false else { return [] }
    noteLoss(now)
    underWay = min(waiting.count, Self.batch)
    writeTime = nil
    return [.append(Array(waiting.prefix(underWay)))]
  }

  private mutating func enqueue(_ entry: AuditEntry, _ now: Moment) {
    guard waiting.count < Self.mostWaiting else { return lose(entry.count, now) }
    noteLoss(now)
    waiting.append(entry)
    if writeTime == nil, underWay == 0 { writeTime = now.uptime + Self.delay }
  }

  private mutating func lose(_ count: Int, _ now: Moment) {
    if loss == nil { loss = Loss(count: 0, since: now.wall) }
    loss?.count += count
    // Where nothing else is written, the gap itself must be.
    if writeTime == nil, underWay == 0 { writeTime = now.uptime + Self.delay }
  }

  /// Puts the gap behind the last entry before it, as soon as there is room.
  private mutating func noteLoss(_ now: Moment) {
    guard let lost = loss, waiting.count < Self.mostWaiting - 1 else { return }
    loss = nil
    waiting.append(
      AuditEntry(
        .gap, at: now.wall, count: lost.count, since: lost.since == now.wall ? nil : lost.since, outcome: "notWritten"))
  }
}
