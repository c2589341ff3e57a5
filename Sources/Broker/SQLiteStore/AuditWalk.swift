import BrokerProtocol
import Records

/// The verification of the audit, entry by entry: a value, so that other work goes on between its parts.
///
/// It goes on behind what does not hold, so that one changed entry does not hide the others.
struct AuditWalk: Sendable {
  /// The most findings that are told; the others are counted.
  static let mostFindings = 20

  /// The end of the audit when this began: entries that come meanwhile are not its own.
  let end: AuditEnd
  /// An earlier head to be compared with.
  let given: (number: Int64, link: AuditLink)?
  private let chain: AuditChain
  /// The entry that comes next.
  private(set) var next: Int64
  /// The link of the one before it; nil where that is not known.
  private var link: AuditLink?
  private var count = 0
  /// The findings, each with the last entry that it is about.
  private var findings: [(kind: AuditFinding.Kind, first: Int64, last: Int64, message: String?)] = []
  private var untold = 0
  /// Whether nothing is left to be looked at.
  private(set) var isFinished = false

  /// Begins behind a checkpoint, whose link is nil where it is not what was written.
  init(
    _ end: AuditEnd, behind checkpoint: (number: Int64, link: AuditLink?), _ chain: AuditChain,
    comparing given: (number: Int64, link: AuditLink)?
  ) {
    (self.end, self.chain, self.given) = (end, chain, given)
    // The number of one that does not open is anything.
    let checkpoint = (number: checkpoint.link == nil ? end.pruned : checkpoint.number, link: checkpoint.link)
    (next, link) = (checkpoint.number + 1, checkpoint.link)
    if checkpoint.link == nil {
      let sentence = "The checkpoint behind entry \(checkpoint.number) is not what was written."
      find(.changed, checkpoint.number, checkpoint.number, sentence)
    } else if checkpoint.number < end.pruned {
      find(.changed, end.pruned, end.pruned, "The checkpoint is an older one than that behind entry \(end.pruned).")
    }
    judgeGiven(behind: checkpoint)
    isFinished = next > end.last
    if isFinished { finish() }
  }

  private mutating func judgeGiven(behind checkpoint: (number: Int64, link: AuditLink?)) {
    guard let given else { return }
    if given.number > end.last {
      let sentence =
        "The audit ends with entry \(end.last), and the head is that of entry \(given.number): entries were removed, or an "
        + "older copy is in its place."
      find(.otherHead, given.number, given.number, sentence)
    } else if given.number < checkpoint.number {
      let sentence =
        "The head is that of entry \(given.number), which was pruned, so that nothing can be told by it; take a newer one."
      find(.prunedHead, given.number, given.number, sentence)
    } else if given.number == checkpoint.number, let link = checkpoint.link {
      compare(link)
    }
  }

  private mutating func compare(_ link: AuditLink) {
    guard let given, link != given.link else { return }
    let sentence =
      "Entry \(given.number) is another one than the head is of: the audit up to there was replaced."
    find(.otherHead, given.number, given.number, sentence)
  }

  /// Begins again behind a later checkpoint: entries were pruned meanwhile.
  mutating func skip(to checkpoint: (number: Int64, link: AuditLink?)) {
    guard let link = checkpoint.link, checkpoint.number >= next else { return }
    (next, self.link) = (checkpoint.number + 1, link)
  }

  /// Takes the next row.
  ///
  /// - Returns: whether the next one is wanted.
  mutating func take(_ row: AuditTable.Found) -> Bool {
    guard row.number <= end.last else { return false }
    if row.number > next {
      find(.missing, next, row.number - 1)
      link = nil
    }
    next = row.number + 1
    guard let (own, text) = row.contents else {
      find(.changed, row.number, row.number)
      link = nil
      return true
    }
    count += 1
    if let link, chain.link(text, after: link) != own { find(.changed, row.number, row.number) }
    if given?.number == row.number { compare(own) }
    link = own
    if let entry = AuditCoding.decode(text) { note(entry, row.number) } else { find(.changed, row.number, row.number) }
    return true
  }

  private mutating func note(_ entry: AuditEntry, _ number: Int64) {
    if entry.number != Int(number) { find(.changed, number, number) }
    guard entry.kind == AuditEntry.Kind.gap.rawValue else { return }
    let lost = entry.count == 1 ? "1 grant or refusal" : "\(entry.count) grants and refusals"
    let sentence =
      entry.count > 0
      ? "Before entry \(number), \(lost) could not be written."
      : "Before entry \(number), a broker ended without a last word: entries of its last moment may be missing."
    find(.gap, number, number, sentence)
  }

  /// Ends the walk, as no row is left.
  mutating func finish() {
    isFinished = true
    guard next > end.last else {
      find(.missing, next, end.last)
      return
    }
    if let link, link != end.link { find(.changed, end.last, end.last) }
  }

  /// Takes in the lowest and the highest number of all rows, and the present end: others are none of the audit's.
  mutating func judge(_ extent: (first: Int64, last: Int64)?, _ end: AuditEnd) {
    guard let extent else { return }
    for number in [extent.first, extent.last] where number <= end.pruned || number > end.last {
      find(.changed, number, number, "There is a row of the number \(number), which is none of the audit's entries.")
    }
  }

  private mutating func find(
    _ kind: AuditFinding.Kind, _ first: Int64, _ last: Int64, _ message: String? = nil
  ) {
    if message == nil, let before = findings.last, before.kind == kind, before.message == nil,
      before.last + 1 >= first
    {
      findings[findings.count - 1].last = max(before.last, last)
      return
    }
    guard findings.count < Self.mostFindings else {
      untold += 1
      return
    }
    findings.append((kind, first, last, message))
  }

  /// The outcome so far.
  var outcome: AuditVerification {
    var told = findings.map { finding in
      AuditFinding(
        finding.kind, isError: finding.kind != .gap && finding.kind != .prunedHead, entry: Int(finding.first),
        finding.message ?? Self.sentence(finding.kind, finding.first, finding.last, end))
    }
    if untold > 0 {
      told.append(AuditFinding(.changed, isError: true, "There are \(untold) more findings."))
    }
    return AuditVerification(count: count, findings: told)
  }

  private static func sentence(
    _ kind: AuditFinding.Kind, _ first: Int64, _ last: Int64, _ end: AuditEnd
  ) -> String {
    let entries = first == last ? "Entry \(first) is" : "Entries \(first) to \(last) are"
    guard kind == .missing else { return "\(entries) not what was written." }
    return last == end.last ? "\(entries) missing at the end of the audit." : "\(entries) missing."
  }
}
