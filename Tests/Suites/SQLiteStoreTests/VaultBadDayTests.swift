import BrokerCore
import Glibc
import LinuxSystem
import Records
import SQLiteStore
import TestSupport
import Testing

/// What cannot be opened says why, and is left byte for byte as it was.
@Suite(.standardTimeLimit) struct VaultBadDayTests {
  enum Day: CaseIterable, Sendable {
    case wrongKey, missingKey, openKey, truncated, cutPage, garbagePage, garbageHeader, newerSchema, missingTable
    case lostRing, notADatabase
  }

  private func spoil(_ place: TemporaryVault, _ day: Day) throws {
    var bytes = try place.bytes(of: "vault.sqlite")
    switch day {
    case .wrongKey: try place.write([UInt8](repeating: 7, count: 32), to: "vault.key")
    case .missingKey: unlink(place.keyPath)
    case .openKey: chmod(place.keyPath, 0o644)
    case .truncated: bytes.removeLast(bytes.count - 4096)
    case .cutPage: bytes.removeLast(1000)
    case .garbagePage: for index in 4096..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
    case .garbageHeader: for index in 16..<100 where !(68..<72).contains(index) { bytes[index] = 0xA5 }
    case .newerSchema: try place.tamper("PRAGMA user_version = 99")
    case .missingTable: try place.tamper("DROP TABLE keyring")
    case .lostRing: try place.tamper("DELETE FROM keyring")
    case .notADatabase: bytes = Array(String(repeating: "no database ", count: 900).utf8)
    }
    switch day {
    case .truncated, .cutPage, .garbagePage, .garbageHeader, .notADatabase:
      try place.write(bytes, to: "vault.sqlite")
    default: break
    }
  }

  private func contents(_ place: TemporaryVault) throws -> [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for name in place.scratch.names { contents[name] = try place.bytes(of: name) }
    for name in place.elsewhere.names { contents["elsewhere/" + name] = try place.elsewhere.bytes(of: name) }
    return contents
  }

  private func make(leavingLog: Bool) async throws -> TemporaryVault {
    let place = try TemporaryVault()
    let vault = try await place.open()
    for record in try Sample.all() { try await vault.save(record) }
    let copy = try place.copy()
    try await vault.close()
    return leavingLog ? copy : place
  }

  /// What is spoilt, without a log and with one: statements that spoil a vault would empty its log.
  private static let days =
    Day.allCases.map { ($0, false) }
    + Day.allCases.filter { ![.newerSchema, .missingTable, .lostRing].contains($0) }.map { ($0, true) }

  @Test(arguments: days)
  func `a vault that cannot be opened is left as it was`(_ day: Day, _ hasLog: Bool) async throws {
    let place = try await make(leavingLog: hasLog)
    try spoil(place, day)
    let before = try contents(place)
    #expect(before.keys.contains("vault.sqlite-wal") == hasLog)
    var refusal: (any Error)?
    do {
      let vault = try await place.locked()
      do { try await vault.unlock(nil) } catch { refusal = error }
      try await vault.close()
    } catch { refusal = error }
    // The log may hold every page that was spoilt, and the last page of the file nothing; then nothing is lost.
    let isSpared = day == .cutPage || hasLog && [.truncated, .garbagePage].contains(day)
    if isSpared, refusal == nil { return }
    let error = try #require(refusal)
    switch day {
    case .wrongKey, .missingKey, .openKey:
      if case KeyFailure.sourceUnavailable = error {} else { Issue.record("\(error)") }
    case .newerSchema:
      if case VaultError.newerSchema(found: 99, supported: 7) = error {} else { Issue.record("\(error)") }
    case .missingTable, .lostRing, .garbagePage, .truncated, .cutPage:
      if case VaultError.damaged = error {} else { Issue.record("\(error)") }
    case .garbageHeader, .notADatabase:
      switch error {
      case VaultError.damaged, VaultError.cannotOpen: break
      default: Issue.record("\(error)")
      }
    }
    let after = try contents(place)
    #expect(after.keys.sorted() == before.keys.sorted())
    for (name, bytes) in before { #expect(after[name] == bytes, "\(name)") }
  }

  @Test func `a vault whose tables were emptied of their number is not made anew`() async throws {
    let place = try await make(leavingLog: false)
    try place.tamper("PRAGMA user_version = 0")
    await #expect {
      _ = try await place.locked()
    } throws: { error in
      if case VaultError.damaged(part: "schema") = error { true } else { false }
    }
  }
}
