import BrokerCore
import BrokerProtocol
import Glibc
import LinuxSystem
import Records
import SQLiteStore
import TestSupport
import Testing

/// A young vault whose files are damaged at random.
///
/// It is what it was, or an alarm is raised, or it is refused and says why. Never is it taken for a new one, or for what
/// it was before, without a word. What it was is what its files said last: the database of a later moment beside the
/// anchor of an earlier one is no loss, and looks like an anchor that a power failure has left behind.
///
/// `AUTHBROKER_DAMAGES` says how many damages are tried (400; 10,000 in `make test-attacks`), `AUTHBROKER_DAMAGE_SEED` where
/// the numbers begin (1).
@Suite(.standardTimeLimit) struct VaultDamageTests {
  /// How it ended.
  private enum Verdict: Equatable {
    case truth, alarm
    case refused(String)
    case silent(String)
  }

  /// How many damages a test case tries, which has a time limit.
  private static let laneLength = 200
  private static let usualCount = Patience.repetitions(400)
  private static let lanes = max(2, number("AUTHBROKER_DAMAGES", usualCount) / laneLength)

  private static func number(_ name: String, _ usual: Int) -> Int {
    Environment.current[name].flatMap { Int($0) } ?? usual
  }

  // What was true at the moment of the files, and at each later one.
  private static func verdict(_ scratch: Scratch, _ truths: [YoungVault.Truth]) async throws -> Verdict {
    let vault: Vault
    do { vault = try await YoungVault.open(scratch) } catch { return .refused("\(error)") }
    do {
      let contents = try await vault.load()
      let found = try await YoungVault.truth(of: vault)
      let findings = try await vault.check(isFull: true).filter(\.isError)
      try await vault.close()
      // Files of a later moment in the place of earlier ones are the vault as it came to be: nothing was lost.
      if truths.contains(found) { return .truth }
      if contents.isSuspect || !contents.tampered.isEmpty || !findings.isEmpty { return .alarm }
      let isOurs = found.tokenID == truths.first?.tokenID
      return .silent("\(found.records.map(\.generation)) \(isOurs) \(found.events ?? [])")
    } catch {
      try? await vault.close()
      return .refused("\(error)")
    }
  }

  @Test(arguments: 0..<lanes)
  func `a damaged young vault is what it was, or raises an alarm, or is refused`(_ lane: Int) async throws {
    let young = try await YoungVault.make()
    let count = Self.number("AUTHBROKER_DAMAGES", Self.usualCount) / Self.lanes
    let seed = Self.number("AUTHBROKER_DAMAGE_SEED", 1)
    var (truths, alarms, refusals, silences) = (0, 0, 0, 0)
    for index in 0..<count {
      var generator = SeededGenerator(seed: UInt64(bitPattern: Int64(seed &+ index * Self.lanes + lane)))
      let moment = Int.random(in: young.moments.indices, using: &generator)
      var image = young.moments[moment].image
      let damage = young.damage(&image, &generator)
      let scratch = Scratch()
      for (name, bytes) in image { try scratch.write(bytes, to: name) }
      switch try await Self.verdict(scratch, young.moments[moment...].map(\.truth)) {
      case .truth: truths += 1
      case .alarm: alarms += 1
      case .refused(let reason):
        refusals += 1
        #expect(!reason.isEmpty)
      case .silent(let found):
        silences += 1
        if silences <= 10 {
          let place = "seed \(seed + index * Self.lanes + lane), moment \(moment)"
          Issue.record("\(place): \(damage) was not noticed: \(found)")
        }
      }
    }
    #expect(silences == 0, "of \(count) damages: \(truths) without effect, \(alarms) alarms, \(refusals) refusals")
    #expect(truths > 0 && alarms > 0 && refusals > 0)
  }

  @Test(arguments: [0, 1], [false, true])
  func `a database without tables in the place of a vault is refused, and left as it was`(
    _ database: Int, _ hasLog: Bool
  ) async throws {
    let young = try await YoungVault.make()
    let scratch = Scratch()
    for (name, bytes) in young.moments[3].image { try scratch.write(bytes, to: name) }
    try scratch.write(young.emptyDatabases[database], to: "vault.sqlite")
    if hasLog { try scratch.write([], to: "vault.sqlite-wal") }
    await #expect {
      _ = try await YoungVault.open(scratch)
    } throws: { error in
      "\(error)".contains("its tables are missing")
    }
    #expect(try scratch.bytes(of: "vault.sqlite") == young.emptyDatabases[database])
  }

  @Test func `a vault that was just made does not live in its log alone`() async throws {
    let young = try await YoungVault.make()
    let scratch = Scratch()
    for (name, bytes) in young.moments[0].image where name != "vault.sqlite-wal" { try scratch.write(bytes, to: name) }
    let vault = try await YoungVault.open(scratch)
    #expect(try await YoungVault.truth(of: vault) == young.moments[0].truth)
    #expect(try await vault.check(isFull: true).filter(\.isError).isEmpty)
    try await vault.close()
  }

  @Test func `a log without its database is refused`() async throws {
    let young = try await YoungVault.make()
    let scratch = Scratch()
    for (name, bytes) in young.moments[2].image where name != "vault.sqlite" { try scratch.write(bytes, to: name) }
    await #expect {
      _ = try await YoungVault.open(scratch)
    } throws: { error in
      "\(error)".contains("its file is missing")
    }
    #expect(scratch.size("vault.sqlite") == nil)
  }

  @Test func `a vault whose file alone is gone is made again with an alarm, one that was moved away with a note`()
    async throws
  {
    let young = try await YoungVault.make()
    for isMovedAway in [false, true] {
      let scratch = Scratch()
      for (name, bytes) in young.moments[3].image where !name.hasPrefix("vault.sqlite") || name.hasSuffix(".reserve") {
        if !isMovedAway || !name.hasSuffix(".reserve") { try scratch.write(bytes, to: name) }
      }
      let vault = try await YoungVault.open(scratch)
      #expect(try await vault.load().isSuspect != isMovedAway)
      let findings = try await vault.check(isFull: true).filter { $0.kind == "rolledBack" }
      #expect(findings.map(\.isError) == [!isMovedAway])
      try await vault.close()
      // It is told of again until an event has told of it.
      let untold = try await YoungVault.open(scratch)
      #expect(try await untold.load().isSuspect != isMovedAway)
      try await untold.commit([.event(Sample.event(1))])
      try await untold.close()
      #expect(!scratch.names.contains("vault.sqlite.lost"))
      let again = try await YoungVault.open(scratch)
      #expect(try await !again.load().isSuspect)
      #expect(try await again.check(isFull: true).allSatisfy { $0.kind != "rolledBack" })
      try await again.close()
    }
  }

  @Test func `a loss is told of where the process ends before there is a new vault`() async throws {
    let young = try await YoungVault.make()
    let scratch = Scratch()
    try scratch.write(young.moments[3].image["vault.sqlite.reserve"] ?? [], to: "vault.sqlite.reserve")
    // A vault that waits for its first passphrase has a file without tables.
    try await Vault.open(
      path: scratch.file("vault.sqlite"), settings: KeySourceSettings(keyFilePath: scratch.file("vault.key")),
      source: .passphrase, anchorPath: scratch.file("vault.anchor")
    ).close()
    let vault = try await YoungVault.open(scratch)
    #expect(try await vault.load().isSuspect)
    #expect(try await vault.check(isFull: true).contains { $0.kind == "rolledBack" && $0.isError })
    try await vault.close()
  }

  @Test func `an anchor that could not be opened once is missed later`() async throws {
    let young = try await YoungVault.make()
    let scratch = Scratch()
    for (name, bytes) in young.moments[3].image { try scratch.write(bytes, to: name) }
    let settings = KeySourceSettings(keyFilePath: scratch.file("vault.key"))
    // A start without a place for the anchor, and a change in it.
    let without = try await Vault.open(path: scratch.file("vault.sqlite"), settings: settings, now: { 1_000_000_000 })
    try await without.unlock(nil)
    try await without.save(Sample.living("d"))
    try await without.close()
    try DirectoryEntry.remove(scratch.file("vault.anchor"))
    let vault = try await YoungVault.open(scratch)
    #expect(try await vault.check(isFull: true).contains { $0.message.contains("anchor is missing") })
    try await vault.close()
  }

  @Test func `with its anchor beside it, an older copy of a vault's files is noticed, one of the directory not`()
    async throws
  {
    let young = try await YoungVault.make()
    let scratch = Scratch()
    for (name, bytes) in young.moments[3].image { try scratch.write(bytes, to: name) }
    for name in ["vault.sqlite", "vault.sqlite-wal"] {
      try scratch.write(young.moments[1].image[name] ?? [], to: name)
    }
    let vault = try await YoungVault.open(scratch)
    #expect(try await vault.load().isSuspect)
    let kinds = try await vault.check(isFull: false).map(\.kind)
    #expect(kinds.contains("rolledBack") && kinds.contains("rollbackUnnoticed"))
    #expect(await !vault.status.noticesRollback)
    try await vault.close()
  }
}
