import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Joining and batching, on a clock of the test's own.
@Suite(.standardTimeLimit) struct AuditTrailTests {
  /// A trail, its store and its clock.
  private struct Stage {
    var trail = AuditTrail()
    var now = Moment(wall: Timestamp(milliseconds: 1_772_355_600_000), uptime: .seconds(1000))
    /// What was written, batch by batch.
    var batches: [[AuditEntry]] = []
    var told: [AuditNotice] = []
    var fails = false
    var isStuck = false
    private var pending: [AuditEntry] = []

    init(isOpen: Bool = true) {
      if isOpen { open() }
      run(trail.set(true, at: now))
    }

    var entries: [AuditEntry] { batches.flatMap(\.self) }
    /// The entries about clients.
    var facts: [AuditEntry] { entries.filter { $0.client != nil } }
    var number: Int { entries.count }

    mutating func open(afterInterruption isInterrupted: Bool = false) {
      run(trail.setStoreOpen(true, at: now))
      run(trail.begin(afterInterruption: isInterrupted, at: now))
    }

    mutating func run(_ actions: [AuditTrail.Action]) {
      for action in actions {
        switch action {
        case .tell(let notice): told.append(notice)
        case .append(let entries):
          guard !isStuck else {
            pending = entries
            continue
          }
          finish(entries)
        }
      }
    }

    private mutating func finish(_ entries: [AuditEntry]) {
      guard !fails else { return run(trail.failed(at: now)) }
      batches.append(entries)
      run(trail.appended(AuditHead(number: number, text: "\(number).x"), at: now))
    }

    mutating func release() {
      isStuck = false
      finish(pending)
    }

    @discardableResult
    mutating func note(_ fact: AuditFact) -> UInt64? {
      let (span, actions) = trail.note(fact, at: now)
      run(actions)
      return span?.id
    }

    /// Lets time pass, with all ticks that are due.
    mutating func pass(_ duration: Duration) {
      let end = (wall: now.wall + duration, uptime: now.uptime + duration)
      var ticks = 0
      while let next = trail.nextTick, next <= end.uptime, ticks < 10_000 {
        ticks += 1
        now = Moment(wall: end.wall + (next - end.uptime), uptime: max(next, now.uptime))
        run(trail.tick(at: now))
      }
      now = Moment(wall: end.wall, uptime: end.uptime)
      #expect(ticks < 10_000, "it wakes for nothing")
    }
  }

  private static let client = AuditedClient(ClientIdentity(socket: "ci", uid: 1005, tool: "curl"))

  private static func grant(
    _ profile: String = "shop", token: String = "t1", _ client: AuditedClient = client
  ) throws -> AuditFact {
    let name = try #require(ProfileName(profile))
    return AuditFact(Grant(profile: name, scopes: ["read"], tokenID: token), to: client, by: "getAccessToken")
  }

  private static func refusal(_ scope: String, _ client: AuditedClient = client) -> AuditFact {
    AuditFact(
      .refusal, client, method: "getAccessToken", profile: ProfileName("shop"), scopes: [scope],
      outcome: "accessDenied")
  }

  @Test func `a million grants of a token are one entry at once, and one for each further minute`() throws {
    var stage = Stage()
    let fact = try Self.grant()
    for minute in 0..<10 {
      // Most come from the cache, which counts them by itself.
      for _ in 0..<1000 {
        let noted = stage.note(fact)
        let id = try #require(noted)
        stage.trail.add([id: 99], at: stage.now)
      }
      #expect(stage.facts.count <= minute + 1)
      stage.pass(.seconds(60))
    }
    stage.pass(.seconds(120))
    #expect(stage.facts.map(\.count).reduce(0, +) == 1_000_000)
    #expect(stage.facts.first?.count == 1 && stage.facts.first?.since == nil)
    #expect(stage.facts.count <= 11)
    #expect(stage.trail.nextTick == nil, "nothing wakes an idle broker")
  }

  @Test func `what the cache has counted is added to the entry that it belongs to`() throws {
    var stage = Stage()
    let noted = stage.note(try Self.grant())
    let id = try #require(noted)
    let begun = stage.now.wall
    stage.pass(.seconds(30))
    stage.trail.add([id: 41], at: stage.now)
    stage.pass(.seconds(31))
    #expect(stage.facts.map(\.count) == [1, 41])
    // The minute in which they were is known.
    #expect(stage.facts[1].since == begun && stage.facts[1].time == begun + .seconds(30))
    // One that is known no more is counted all the same.
    stage.pass(.seconds(180))
    stage.trail.add([id: 3], at: stage.now)
    stage.pass(.seconds(2))
    #expect(stage.entries.last?.kind == "gap" && stage.entries.last?.count == 3)
  }

  @Test func `each client, profile and token has entries of its own`() throws {
    var stage = Stage()
    let other = AuditedClient(ClientIdentity(socket: "ci", uid: 1005, tool: "git"))
    for fact in [
      try Self.grant(), try Self.grant("work"), try Self.grant(token: "t2"), try Self.grant("shop", token: "t1", other),
    ] { for _ in 0..<3 { stage.note(fact) } }
    stage.pass(.seconds(1))
    #expect(stage.facts.count == 4 && stage.facts.allSatisfy { $0.count == 1 })
    #expect(stage.facts[0].client == Self.client && stage.facts[0].scopes == ["read"])
    #expect(stage.facts[0].tokenID == "t1" && stage.facts[0].method == "getAccessToken")
  }

  @Test func `a flood of different refusals of one source is few entries, and counts each`() throws {
    var stage = Stage()
    for number in 0..<10_000 {
      let tool = AuditedClient(ClientIdentity(socket: "ci", uid: 1005, tool: "tool-\(number)"))
      stage.note(Self.refusal("scope-\(number)", tool))
    }
    stage.pass(.seconds(61))
    #expect(stage.facts.count <= AuditTrail.mostRefusals + 2 && stage.facts.map(\.count).reduce(0, +) == 10_000)
    let joined = try #require(stage.facts.last)
    #expect(joined.outcome == "several" && joined.client?.identity == ClientIdentity(socket: "ci", uid: 1005))
    // Another source is not concerned.
    stage.note(Self.refusal("own", AuditedClient(ClientIdentity(uid: 0))))
    stage.pass(.seconds(1))
    #expect(stage.facts.last?.scopes == ["own"])
  }

  @Test func `many names that a program gives itself do not make many entries`() throws {
    var stage = Stage()
    for number in 0..<5000 {
      let tool = ClientIdentity(socket: "ci", uid: 7, tool: "tool-\(number)")
      stage.note(try Self.grant("shop", token: "t1", AuditedClient(tool)))
    }
    stage.pass(.seconds(61))
    #expect(stage.facts.count <= AuditTrail.mostGrants + 2)
    #expect(stage.facts.map(\.count).reduce(0, +) == 5000)
  }

  @Test func `sources without an end are counted by a gap, in bounded memory`() throws {
    var stage = Stage()
    for number in 0..<(AuditTrail.mostJoined + 500) {
      stage.note(try Self.grant("shop", token: "t1", AuditedClient(ClientIdentity(uid: number))))
    }
    stage.pass(.seconds(61))
    let lost = stage.entries.filter { $0.kind == "gap" }.map(\.count).reduce(0, +)
    #expect(lost == 500 && stage.facts.map(\.count).reduce(0, +) + lost == AuditTrail.mostJoined + 500)
  }

  @Test func `entries are written together, soon after the first, and at once where they are many`() throws {
    var stage = Stage()
    stage.pass(.seconds(1))
    #expect(stage.batches.map(\.count) == [1])
    for number in 0..<10 { stage.note(try Self.grant(token: "t\(number)")) }
    #expect(stage.batches.count == 1)
    stage.pass(AuditTrail.delay)
    #expect(stage.batches.map(\.count) == [1, 10])
    for number in 0..<AuditTrail.batch {
      stage.note(try Self.grant(token: "u", AuditedClient(ClientIdentity(uid: number))))
    }
    #expect(stage.batches.map(\.count) == [1, 10, AuditTrail.batch])
  }

  @Test func `what comes while a batch is written is in the next one`() throws {
    var stage = Stage()
    stage.pass(.seconds(1))
    stage.isStuck = true
    stage.note(try Self.grant(token: "t1"))
    stage.pass(.seconds(1))
    stage.note(try Self.grant(token: "t2"))
    stage.pass(.seconds(5))
    #expect(stage.facts.isEmpty)
    stage.release()
    stage.pass(.seconds(1))
    #expect(stage.facts.map(\.tokenID) == ["t1", "t2"] && stage.batches.count == 3)
  }

  @Test func `a store that fails refuses nothing: entries wait, further ones are a counted gap`() throws {
    var stage = Stage()
    stage.pass(.seconds(1))
    stage.fails = true
    let most = AuditTrail.mostWaiting
    for number in 0..<(most + 100) {
      stage.note(try Self.grant(token: "t\(number)", AuditedClient(ClientIdentity(uid: number / 200))))
    }
    stage.pass(.seconds(600))
    #expect(stage.told.filter { $0 == .notWritten }.count == 1 && stage.facts.isEmpty)
    stage.fails = false
    stage.pass(.seconds(60))
    #expect(stage.told.contains(.written))
    let gap = try #require(stage.entries.first { $0.kind == "gap" })
    #expect(gap.count + stage.facts.map(\.count).reduce(0, +) == most + 100 && gap.outcome == "notWritten")
    // The gap stands behind what was kept, and before what comes then.
    stage.note(try Self.grant(token: "after"))
    stage.pass(.seconds(1))
    let place = try #require(stage.entries.firstIndex(of: gap))
    #expect(stage.entries[place...].contains { $0.tokenID == "after" })
    #expect(!stage.entries[..<place].contains { $0.tokenID == "after" })
    #expect(stage.trail.isSettled)
  }

  @Test func `a locked store keeps what happens, and the last broker's silence stands before it`() throws {
    var stage = Stage(isOpen: false)
    stage.note(Self.refusal("read"))
    stage.pass(.seconds(300))
    #expect(stage.batches.isEmpty)
    stage.open(afterInterruption: true)
    stage.pass(.seconds(1))
    #expect(stage.entries.map(\.kind) == ["gap", "start", "refusal"])
    #expect(stage.entries.first?.outcome == "interrupted" && stage.entries.first?.count == 0)
  }

  @Test func `the repetitions are written before the keys go, and the end is the last word`() throws {
    var stage = Stage()
    for _ in 0..<5 { stage.note(try Self.grant()) }
    stage.run(stage.trail.hurry(at: stage.now, withRepetitions: true))
    #expect(stage.facts.map(\.count) == [1, 4])
    for _ in 0..<3 { stage.note(try Self.grant()) }
    stage.run(stage.trail.set(false, at: stage.now))
    #expect(stage.entries.last?.kind == "stop" && stage.facts.map(\.count).reduce(0, +) == 8)
    #expect(stage.trail.isSettled)
    stage.note(try Self.grant())
    stage.pass(.seconds(120))
    #expect(stage.entries.last?.kind == "stop", "an audit that is off notes nothing")
  }

  @Test func `heads are told at the beginning, at the end, and each thousand entries`() throws {
    var stage = Stage()
    stage.pass(.seconds(1))
    for number in 0..<2500 {
      stage.note(try Self.grant(token: "t\(number)", AuditedClient(ClientIdentity(uid: number / 100))))
    }
    stage.pass(.seconds(2))
    stage.run(stage.trail.set(false, at: stage.now))
    let heads = stage.told.compactMap { if case .head(let head) = $0 { head.number } else { nil } }
    #expect(heads.first == 1 && heads.last == stage.number && heads.count == 4, "\(heads)")
  }

  @Test(arguments: [("allowed", 1001), ("left", 200)])
  func `a consent is an entry, and a flood of them is few`(outcome: String, most: Int) {
    var stage = Stage()
    func fact(_ scope: String) -> AuditFact {
      AuditFact(.consent, Self.client, method: "a", scopes: [scope], outcome: outcome, subject: "process")
    }
    stage.note(fact("s"))
    stage.pass(.seconds(1))
    #expect(stage.facts.map(\.kind) == ["consent"] && stage.facts[0].subject == "process")
    for number in 0..<10_000 { stage.note(fact("s\(number % 500)")) }
    stage.pass(.seconds(61))
    #expect(stage.facts.count <= most && stage.facts.map(\.count).reduce(0, +) == 10_001, "\(stage.facts.count)")
  }

  @Test func `scopes and audiences without a bound are no part of an entry`() throws {
    let fact = AuditFact(
      .refusal, Self.client, method: "getAccessToken", scopes: [String](repeating: "s", count: 100_000),
      audience: String(repeating: "a", count: 100_000), outcome: "accessDenied")
    #expect(fact.scopes == nil && fact.audience == nil)
  }

  @Test func `who reads at the beginning waits until the end of the broker before is known`() {
    var stage = Stage(isOpen: false)
    #expect(stage.trail.isSettled, "nothing is written while the store is closed")
    stage.run(stage.trail.setStoreOpen(true, at: stage.now))
    #expect(!stage.trail.isSettled && stage.entries.isEmpty)
    stage.run(stage.trail.begin(afterInterruption: false, at: stage.now))
    #expect(stage.trail.isSettled && stage.entries.map(\.kind) == ["start"])
  }
}
