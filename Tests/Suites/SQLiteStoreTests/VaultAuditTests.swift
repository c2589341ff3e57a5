import BrokerCore
import BrokerProtocol
import SQLite
import SQLiteStore
import SecretMemory
import TestSupport
import Testing

/// The audit in a real database, which someone with the file edits.
@Suite(.standardTimeLimit) struct VaultAuditTests {
  private static let start: Int64 = 1_772_355_600_000

  private static func entry(_ number: Int, at time: Int64 = start, _ kind: AuditEntry.Kind = .grant) -> AuditEntry {
    var entry = AuditEntry(kind, at: Timestamp(milliseconds: time), count: kind == .gap ? 7 : 1)
    guard kind == .grant else { return entry }
    entry.client = AuditedClient(ClientIdentity(socket: "ci", uid: 1005))
    entry.profile = ProfileName(number.isMultiple(of: 2) ? "shop" : "work")
    entry.tokenID = "token-\(number)"
    return entry
  }

  /// A closed vault with so many entries, and its head.
  private static func filled(_ count: Int = 20) async throws -> (place: TemporaryVault, head: String) {
    let place = try TemporaryVault()
    return (place, try await append(1...count, to: place))
  }

  private static func append(
    _ numbers: ClosedRange<Int>, to place: TemporaryVault, at time: Int64 = start
  ) async throws -> String {
    let vault = try await place.open(now: { time })
    let head = try await vault.appendAudit(numbers.map { entry($0, at: time) })
    try await vault.close()
    return head.text
  }

  private static func verify(
    _ place: TemporaryVault, against head: String? = nil
  ) async throws -> AuditVerification {
    let vault = try await place.open(now: { start })
    let verification = try await vault.verifyAudit(against: head)
    try await vault.close()
    return verification
  }

  @Test func `entries are read in pages, by time and profile`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open(now: { Self.start })
    let entries = (1...2500).map { Self.entry($0, at: Self.start + Int64($0) * 1000) }
    for part in stride(from: 0, to: 2500, by: 250) {
      _ = try await vault.appendAudit(Array(entries[part..<part + 250]))
    }
    var (found, after, pages): ([AuditEntry], Int, Int) = ([], 0, 0)
    repeat {
      let page = try await vault.readAudit(after: after, since: nil, profile: nil)
      #expect(page.entries.count <= 200 && page.through > after && page.head?.number == 2500)
      (found, after, pages) = (found + page.entries, page.through, pages + 1)
    } while after < 2500
    #expect(found.map(\.number) == Array(1...2500) && pages == 13)
    #expect(found.map(\.tokenID) == entries.map(\.tokenID) && found[5].client == entries[5].client)
    let since = Timestamp(milliseconds: Self.start + 2_400_000)
    let late = try await vault.readAudit(after: 0, since: since, profile: ProfileName("shop"))
    #expect(late.entries.map(\.number) == stride(from: 2400, through: 2500, by: 2).map(\.self) && late.through == 2500)
    try await vault.close()
  }

  @Test func `an audit as it was written verifies, alone and against each earlier head`() async throws {
    let (place, first) = try await Self.filled()
    let second = try await Self.append(21...40, to: place)
    for head in [nil, first, second] {
      let verification = try await Self.verify(place, against: head)
      #expect(verification.isIntact && verification.count == 40 && verification.findings.isEmpty, "\(verification)")
    }
  }

  /// An edit, and the findings that tell of it: their kind and their first entry.
  struct Edit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let kinds: [String]
    let entry: Int?
    let edit: @Sendable (SQLiteConnection) throws -> Void

    init(
      _ description: String, _ kinds: [String], at entry: Int?,
      _ edit: @escaping @Sendable (SQLiteConnection) throws -> Void
    ) { (testDescription, self.kinds, self.entry, self.edit) = (description, kinds, entry, edit) }

    static let all = [
      Edit("one byte changed", ["changed"], at: 7) { connection in
        let box: [UInt8]
        do {
          let row = try connection.prepare("SELECT sealed FROM audit WHERE number = 7")
          guard try row.step() else { throw StoreFailure.locked }
          var bytes = try row.blob(at: 0)
          bytes[bytes.count / 2] ^= 1
          box = bytes
        }
        let update = try connection.prepare("UPDATE audit SET sealed = ?1 WHERE number = 7")
        try update.bind(box, at: 1)
        try update.run()
      },
      Edit("the time in the clear changed", ["changed"], at: 7) {
        try $0.execute("UPDATE audit SET time = time + 1 WHERE number = 7")
      },
      Edit("one entry removed", ["missing"], at: 7) { try $0.execute("DELETE FROM audit WHERE number = 7") },
      Edit("the first entries removed", ["missing"], at: 1) { try $0.execute("DELETE FROM audit WHERE number < 4") },
      Edit("two entries exchanged", ["changed"], at: 7) { connection in
        try connection.execute("UPDATE audit SET number = 1000 WHERE number = 7")
        try connection.execute("UPDATE audit SET number = 7 WHERE number = 8")
        try connection.execute("UPDATE audit SET number = 8 WHERE number = 1000")
      },
      Edit("the tail cut", ["missing"], at: 16) { try $0.execute("DELETE FROM audit WHERE number > 15") },
      Edit("everything removed", ["missing"], at: 1) { try $0.execute("DELETE FROM audit") },
      Edit("an entry copied behind the last", ["changed"], at: 21) {
        try $0.execute("INSERT INTO audit SELECT 21, time, format, sealed FROM audit WHERE number = 20")
      },
    ]
  }

  @Test(arguments: Edit.all) func `an edit is found, with the entry, and nothing else is lost`(
    _ edit: Edit
  ) async throws {
    let (place, head) = try await Self.filled()
    try place.withConnection { try edit.edit($0) }
    let verification = try await Self.verify(place)
    #expect(!verification.isIntact, "\(verification)")
    #expect(Set(verification.findings.map(\.kind)).isSuperset(of: edit.kinds), "\(verification.findings)")
    #expect(verification.findings.first?.entry == edit.entry, "\(verification.findings)")
    // The vault itself opens, and the doctor says it.
    let vault = try await place.open(now: { Self.start })
    let findings = try await vault.check(isFull: true)
    #expect(findings.contains { $0.kind == "auditTampered" && $0.isError }, "\(findings)")
    // What comes then does not cover it up.
    _ = try await vault.appendAudit([Self.entry(30)])
    let later = try await vault.verifyAudit(against: head)
    #expect(
      !later.isIntact && later.findings.contains { edit.kinds.contains($0.kind) && $0.entry == edit.entry }, "\(later)")
    try await vault.close()
  }

  @Test func `an older copy of the table alone is found without a head, and one of everything by the head`()
    async throws
  {
    let (place, first) = try await Self.filled()
    let old = try place.copy()
    let later = try await Self.append(21...40, to: place)
    // The table alone.
    let mixed = try place.copy()
    try mixed.withConnection { try $0.execute("DELETE FROM audit WHERE number > 20") }
    let cut = try await Self.verify(mixed)
    #expect(cut.findings.first?.kind == "missing" && cut.findings.first?.entry == 21, "\(cut)")
    // Everything, the anchor too: only the head of the log tells.
    try place.restore(old)
    #expect(try await Self.verify(place).isIntact)
    #expect(try await Self.verify(place, against: first).isIntact)
    let replaced = try await Self.verify(place, against: later)
    #expect(!replaced.isIntact && replaced.findings.map(\.kind) == ["otherHead"], "\(replaced)")
    // Also where it has grown since to the same length: another history.
    _ = try await Self.append(121...140, to: place)
    let grown = try await Self.verify(place, against: later)
    #expect(!grown.isIntact && grown.findings.map(\.kind) == ["otherHead"], "\(grown)")
  }

  @Test func `a pruned audit verifies, and a head of before says nothing`() async throws {
    let (place, first) = try await Self.filled()
    let day: Int64 = 86_400_000
    let vault = try await place.open(now: { Self.start + 91 * day })
    let head = try await vault.appendAudit((21...30).map { Self.entry($0, at: Self.start + 91 * day) })
    let page = try await vault.readAudit(after: 0, since: nil, profile: nil)
    #expect(page.entries.map(\.number) == Array(21...30))
    let verification = try await vault.verifyAudit(against: head.text)
    #expect(verification.isIntact && verification.count == 10, "\(verification)")
    let old = try await vault.verifyAudit(against: first)
    #expect(old.isIntact, "the head of the last entry that was pruned is that of the checkpoint: \(old)")
    try await vault.close()
    // The checkpoint is bound as well.
    for statement: StaticString in [
      "DELETE FROM audit_checkpoint", "UPDATE audit_checkpoint SET number = 19",
      "UPDATE audit_checkpoint SET number = 22",
    ] {
      let copy = try place.copy()
      try copy.withConnection { try $0.execute(statement) }
      #expect(try await !Self.verify(copy).isIntact, "\(statement)")
    }
  }

  @Test func `what is old goes in parts, and a head far behind tells that it was pruned`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open(now: { Self.start })
    var early = ""
    for part in 0..<8 {
      let head = try await vault.appendAudit((1...250).map { Self.entry(part * 250 + $0) })
      if part == 0 { early = head.text }
    }
    try await vault.close()
    let later = Self.start + 91 * 86_400_000
    let again = try await place.open(now: { later })
    _ = try await again.appendAudit([Self.entry(2001, at: later)])
    #expect(try await again.readAudit(after: 0, since: nil, profile: nil).entries.first?.number == 1001)
    #expect(try await again.verifyAudit(against: nil).isIntact)
    _ = try await again.appendAudit([Self.entry(2002, at: later)])
    let verification = try await again.verifyAudit(against: early)
    #expect(verification.isIntact && verification.findings.map(\.kind) == ["prunedHead"] && verification.count == 2)
    try await again.close()
  }

  @Test func `the chain outlives a change of keys`() async throws {
    let (place, head) = try await Self.filled()
    let vault = try await place.open(now: { Self.start })
    try await vault.rekey(Rekey.Params())
    #expect(try await vault.verifyAudit(against: head).isIntact)
    _ = try await vault.appendAudit([Self.entry(21)])
    try await vault.close()
    let verification = try await Self.verify(place, against: head)
    #expect(verification.isIntact && verification.count == 21)
  }

  @Test func `the state says whether the last broker has ended it, and a gap is told of`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open(now: { Self.start })
    #expect(try await vault.auditState() == AuditState(head: nil, isInterrupted: false))
    let head = try await vault.appendAudit([Self.entry(1)])
    #expect(try await vault.auditState() == AuditState(head: head, isInterrupted: true))
    #expect(try await vault.check(isFull: true).allSatisfy { $0.kind != "auditGap" })
    _ = try await vault.appendAudit([Self.entry(2, .gap), Self.entry(3, .stop)])
    #expect(try await !vault.auditState().isInterrupted)
    let findings = try await vault.check(isFull: false)
    #expect(findings.contains { $0.kind == "auditGap" && !$0.isError && $0.message.contains("entry 2") }, "\(findings)")
    let verification = try await vault.verifyAudit(against: nil)
    #expect(verification.isIntact && verification.findings.map(\.kind) == ["gap"])
    await vault.lock()
    await #expect(throws: StoreFailure.locked) { try await vault.auditState() }
    await #expect(throws: StoreFailure.locked) { _ = try await vault.appendAudit([Self.entry(4)]) }
    try await vault.close()
  }

  @Test(arguments: [Int64.max, Int64.max - 1, 1 << 50, 22, 0, -1, .min])
  func `a row of any number that is no entry stops nothing, and is told`(_ number: Int64) async throws {
    let (place, head) = try await Self.filled()
    try place.withConnection { connection in
      let row = try connection.prepare("INSERT INTO audit (number, time, format, sealed) VALUES (?1, 1, 1, x'00')")
      try row.bind(number, at: 1)
      try row.run()
      guard number == .max else { return }
      try connection.execute("REPLACE INTO audit_checkpoint VALUES (1, 9223372036854775807, x'00')")
    }
    for _ in 0..<2 {
      let vault = try await place.open(now: { Self.start })
      let verification = try await vault.verifyAudit(against: head)
      #expect(verification.findings.contains { $0.entry == Int(number) && $0.kind == "changed" }, "\(verification)")
      #expect(try await vault.check(isFull: true).contains { $0.kind == "auditTampered" })
      let before = try #require(try await vault.auditState().head?.number)
      #expect(try await vault.appendAudit([Self.entry(30)]).number == before + 1)
      try await vault.rekey(Rekey.Params())
      try await vault.close()
    }
    let vault = try await place.open(now: { Self.start })
    let page = try await vault.readAudit(after: 0, since: nil, profile: nil)
    // One that follows directly keeps its number from being given again.
    #expect(page.entries.map(\.number).starts(with: Array(1...20)) && page.head?.number == (number == 22 ? 23 : 22))
    try await vault.close()
  }

  @Test func `a lost head of the vault loses no entry`() async throws {
    let (place, head) = try await Self.filled()
    try place.withConnection { try $0.execute("UPDATE head SET generation = generation + 1") }
    let vault = try await place.open(now: { Self.start })
    #expect(try await vault.auditState().isInterrupted)
    _ = try await vault.appendAudit([Self.entry(21)])
    let page = try await vault.readAudit(after: 0, since: nil, profile: nil)
    #expect(page.entries.map(\.number) == Array(1...21))
    #expect(try await vault.verifyAudit(against: head).isIntact)
    try await vault.close()
  }

  @Test func `the file shows numbers and times, and nothing of clients or tokens`() async throws {
    let (place, _) = try await Self.filled()
    for name in place.files {
      let bytes = try place.bytes(of: name)
      for word in ["token-7", "shop", "\"ci\""] {
        #expect(bytes.firstRange(of: Array(word.utf8)) == nil, "\(word) in \(name)")
      }
    }
  }
}
