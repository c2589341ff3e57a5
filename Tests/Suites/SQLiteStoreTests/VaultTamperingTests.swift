import BrokerCore
import BrokerProtocol
import Records
import SQLite
import SQLiteStore
import TestSupport
import Testing

/// Every sealed value of a vault is changed, moved, removed, doubled and rolled back in turn: each is noticed, and
/// everything else goes on.
@Suite(.standardTimeLimit) struct VaultTamperingTests {
  private static let names = ["a", "b", "c"]

  /// A closed vault as it was before its last changes, and as it is.
  private struct Pair {
    let old: TemporaryVault
    let new: TemporaryVault

    static func make() async throws -> Pair {
      let place = try TemporaryVault()
      try await fill(place, generation: 1)
      let old = try place.copy()
      try await fill(place, generation: 2)
      return Pair(old: old, new: place)
    }

    private static func fill(_ place: TemporaryVault, generation: UInt64) async throws {
      let vault = try await place.open()
      for (index, name) in names.enumerated() {
        try await vault.commit([
          .record(Sample.living(name, generation: generation, token: "fake-\(generation)")),
          .openIntent(Sample.intent(name, generation: generation)),
          .openLogin(Sample.login(name, flow: "flow-\(generation)")),
          .openRevocation(Sample.revocation(name, 1, token: "old-\(generation)")),
          .event(Sample.event(generation * 10 + UInt64(index))),
        ])
      }
      try await vault.close()
    }
  }

  /// What a reader of the vault is told.
  private struct Verdict {
    var isRefused = false
    var blamed: [String] = []
    var isSuspect = false
    var eventsAreRefused = false
    var hasFinding = false
    var intact: [String] = []

    var isNoticed: Bool { isRefused || isSuspect || !blamed.isEmpty || eventsAreRefused && hasFinding }

    init(_ place: TemporaryVault) async throws {
      let vault: Vault
      do {
        vault = try await place.locked(isAnchored: false)
        try await vault.unlock(nil)
      } catch {
        isRefused = true
        return
      }
      let contents = try await vault.load()
      blamed = contents.tampered.map(\.description)
      isSuspect = contents.isSuspect
      intact = contents.records.map(\.profile.description)
      #expect(contents.intents.map(\.profile.description).sorted() == intact)
      #expect(contents.revocations.map(\.id.profile.description).sorted() == intact)
      #expect(contents.pendingLogins.map(\.login.profile.description).sorted() == intact)
      do { _ = try await vault.events(after: 0, through: .max) } catch { eventsAreRefused = true }
      hasFinding = try await vault.check(isFull: true).contains { $0.isError }
      try await vault.close()
    }
  }

  /// `blamed` are the profiles that must be named; none for a suspicion about the whole vault.
  private func expectNoticed(
    _ pair: Pair, _ what: String, blamed: [String], isOfLists: Bool = false, _ body: (SQLiteConnection) throws -> Void
  ) async throws {
    let copy = try pair.new.copy()
    try copy.withConnection(body)
    let verdict = try await Verdict(copy)
    #expect(verdict.isNoticed, "\(what)")
    guard !verdict.isRefused else { return }
    #expect(verdict.hasFinding, "\(what)")
    #expect(verdict.intact == Self.names.filter { !verdict.blamed.contains($0) }, "\(what)")
    // What vouched for rows is gone, so none of them is accepted: an older copy would look the same.
    guard !isOfLists else { return }
    #expect(verdict.blamed == blamed, "\(what)")
  }

  @Test func `nothing is said of a vault that nobody touched`() async throws {
    let pair = try await Pair.make()
    let verdict = try await Verdict(pair.new)
    #expect(!verdict.isNoticed && !verdict.hasFinding && verdict.intact == Self.names)
  }

  @Test(arguments: SealedCells.allCases)
  func `a flipped bit is noticed`(_ table: SealedCells) async throws {
    let pair = try await Pair.make()
    for cell in try pair.new.withConnection(table.cells) {
      // Version, key, nonce, contents and tag.
      for position in [0, 5, 25, cell.box.count / 2, cell.box.count - 17, cell.box.count - 1] {
        var box = cell.box
        box[position] ^= 0x10
        try await expectNoticed(
          pair, "\(cell.name) byte \(position)", blamed: table.blamed(cell.name), isOfLists: table.isOfLists
        ) {
          try table.set(cell.row, to: box, $0)
        }
      }
    }
  }

  @Test(arguments: SealedCells.allCases)
  func `values that change places are noticed`(_ table: SealedCells) async throws {
    let pair = try await Pair.make()
    let cells = try pair.new.withConnection(table.cells)
    for (first, second) in zip(cells, cells.dropFirst()) {
      try await expectNoticed(
        pair, "\(first.name)", blamed: table.blamed(first.name, second.name), isOfLists: table.isOfLists
      ) {
        try table.set(first.row, to: second.box, $0)
        try table.set(second.row, to: first.box, $0)
      }
    }
  }

  @Test(arguments: SealedCells.allCases)
  func `a value that is gone is noticed`(_ table: SealedCells) async throws {
    let pair = try await Pair.make()
    for cell in try pair.new.withConnection(table.cells) {
      try await expectNoticed(pair, cell.name, blamed: table.blamed(cell.name), isOfLists: table.isOfLists) {
        try table.delete(cell.row, $0)
      }
    }
  }

  @Test(arguments: SealedCells.allCases)
  func `a value that is there twice is noticed`(_ table: SealedCells) async throws {
    let pair = try await Pair.make()
    for cell in try pair.new.withConnection(table.cells) {
      guard try pair.new.copy().withConnection({ try table.duplicate(cell.row, $0) }) else { continue }
      try await expectNoticed(pair, cell.name, blamed: table.blamed("zz")) { _ = try table.duplicate(cell.row, $0) }
    }
  }

  @Test(arguments: [SealedCells.session, .refreshIntent, .pendingLogin, .manifest, .head])
  func `a value from before the last change is noticed`(_ table: SealedCells) async throws {
    let pair = try await Pair.make()
    let old = try pair.old.withConnection(table.cells)
    for cell in try pair.new.withConnection(table.cells) {
      guard let earlier = old.first(where: { $0.name == cell.name }), earlier.box != cell.box else { continue }
      try await expectNoticed(pair, cell.name, blamed: table.blamed(cell.name), isOfLists: table.isOfLists) {
        try table.set(cell.row, to: earlier.box, $0)
      }
    }
  }

  @Test func `a whole row from before the last change is noticed, also with the list that vouched for it`() async throws
  {
    let pair = try await Pair.make()
    for withManifest in [false, true] {
      let copy = try pair.new.copy()
      try copy.tamper("DELETE FROM session WHERE profile = 'b'")
      try copy.takeRows(from: pair.old, withManifest: withManifest)
      let verdict = try await Verdict(copy)
      #expect(withManifest ? verdict.isSuspect : verdict.blamed == ["b"])
      #expect(!verdict.intact.contains("b") && verdict.blamed.contains("b"))
    }
  }

  @Test(arguments: [SealedCells.manifest, .head])
  func `an older copy of a row is not accepted where the lists that know better are lost`(
    _ table: SealedCells
  ) async throws {
    let pair = try await Pair.make()
    try pair.new.tamper("DELETE FROM session WHERE profile = 'b'", "DELETE FROM refresh_intent WHERE profile = 'b'")
    try pair.new.takeRows(from: pair.old, withManifest: false)
    try pair.new.takeIntents(from: pair.old)
    try pair.new.withConnection { connection in
      for cell in try table.cells(connection) { try table.delete(cell.row, connection) }
    }
    let verdict = try await Verdict(pair.new)
    #expect(verdict.isSuspect && verdict.blamed == Self.names && verdict.intact.isEmpty)
  }

  @Test func `a row that was removed for good is not taken back`() async throws {
    let pair = try await Pair.make()
    let vault = try await pair.new.open()
    try await vault.commit([.closeIntent(Sample.profile("b"))])
    try await vault.close()
    try pair.new.takeIntents(from: pair.old)
    let verdict = try await Verdict(pair.new)
    #expect(verdict.blamed.contains("b"))
  }

  @Test(arguments: [SealedCells.manifest, .head, .metadata, .event])
  func `what was lost is made anew by the next change`(_ table: SealedCells) async throws {
    let pair = try await Pair.make()
    try pair.new.withConnection { connection in
      for cell in try table.cells(connection) { try table.delete(cell.row, connection) }
    }
    let vault = try await pair.new.open()
    let before = try await vault.load()
    #expect(before.isSuspect && before.tampered.map(\.description) == (table.isOfLists ? Self.names : []))
    // Nothing that was lost can be replayed.
    #expect(table != .event || before.completeness.all == before.lastSequence)
    for name in Self.names { try await vault.save(Sample.living(name, generation: 3)) }
    try await vault.commit([.event(Sample.event(2_000_000))])
    try await vault.close()
    let again = try await pair.new.open()
    let after = try await again.load()
    #expect(!after.isSuspect && after.tampered.isEmpty && after.records.count == 3)
    #expect(try await again.check(isFull: true).filter(\.isError).isEmpty)
    try await again.close()
  }

  @Test func `a profile that was meddled with begins anew`() async throws {
    let pair = try await Pair.make()
    try pair.new.tamper(
      "DELETE FROM session WHERE profile = 'b'", "UPDATE pending_login SET sealed = zeroblob(99) WHERE profile = 'b'",
      "UPDATE refresh_intent SET started_at = 1 WHERE profile = 'b'",
      "UPDATE revocation SET issuer = 'https://evil.example' WHERE name = 'b/1'")
    let vault = try await pair.new.open()
    #expect(try await vault.load().tampered == [Sample.profile("b")])
    try await vault.save(Sample.living("b", generation: 1))
    let contents = try await vault.load()
    #expect(contents.tampered.isEmpty && contents.records.count == 3)
    #expect(contents.pendingLogins.count == 2 && contents.intents.count == 2 && contents.revocations.count == 2)
    try await vault.close()
  }

  @Test(arguments: [-1, 1 << 41] as [Int64])
  func `a sequence that was never given is noticed, and none is given twice`(_ change: Int64) async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.reserveSequences(through: 500)
    try await vault.close()
    try place.withConnection { connection in
      let update = try connection.prepare("UPDATE head SET sequence = sequence + ?1")
      try update.bind(change, at: 1)
      try update.run()
    }
    let reopened = try await place.open()
    let contents = try await reopened.load()
    #expect(contents.isSuspect && contents.lastSequence > 500 && contents.lastSequence < 1 << 40)
    try await reopened.close()
  }

  @Test func `a sequence that is beyond all numbers, beside a head that is lost, leaves room for more`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.reserveSequences(through: 500)
    try await vault.close()
    try place.tamper("UPDATE head SET sequence = -1, sealed = zeroblob(9)")
    let reopened = try await place.open()
    let contents = try await reopened.load()
    #expect(contents.isSuspect && contents.lastSequence > 500 && contents.lastSequence < 1 << 53)
    try await reopened.close()
  }

  @Test func `an event with the sequence of the next one does not keep that from being written`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    for sequence in 1...3 as ClosedRange<UInt64> { try await vault.commit([.event(Sample.event(sequence))]) }
    try await vault.close()
    try place.tamper("UPDATE event SET sequence = 4 WHERE sequence = 2")
    let reopened = try await place.open()
    #expect(try await !reopened.load().isSuspect)
    try await reopened.commit([.record(Sample.living("a")), .event(Sample.event(4))])
    #expect(try await reopened.load().records.count == 1)
    #expect(try await reopened.check(isFull: true).contains { $0.kind == "tampered" })
    try await reopened.close()
  }

  @Test func `an event whose sequence was changed is missed, wherever it went`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    for sequence in 1...3 as ClosedRange<UInt64> { try await vault.commit([.event(Sample.event(sequence))]) }
    try await vault.close()
    try place.tamper("UPDATE event SET sequence = 99 WHERE sequence = 2")
    let reopened = try await place.open()
    await #expect(throws: StoreFailure.tampered(profile: nil)) { try await reopened.events(after: 0, through: 3) }
    try await reopened.close()
  }

  @Test func `an oldest event that says it is the newest does not end the replay of events for ever`() async throws {
    let day: Int64 = 86_400_000
    let place = try TemporaryVault()
    let vault = try await place.open()
    for sequence in 1...2 as ClosedRange<UInt64> { try await vault.commit([.event(Sample.event(sequence))]) }
    try await vault.close()
    try place.tamper("UPDATE event SET sequence = -1 WHERE sequence = 1")
    let reopened = try await place.open(now: { 100 * day })
    try await reopened.commit([.event(Sample.event(3, at: 100 * day))])
    #expect(try await reopened.load().completeness.all == 3)
    try await reopened.close()
  }
}
