import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// What the vault's gate does with every event in every phase.
@Suite(.standardTimeLimit) struct VaultGateTests {
  /// Where a table's row begins.
  enum Start: String, CaseIterable, Sendable {
    case locked, opening, open, rekeying, closing, dropping

    /// Brings a new gate there: callers 1 to 3 have been heard by then.
    func gate() -> VaultGate {
      var gate = VaultGate(VaultGateTests.status(), at: VaultGateTests.now)
      func tell(_ event: VaultGate.Event) { _ = gate.handle(event, at: VaultGateTests.now) }
      switch self {
      case .locked: break
      case .opening: tell(.wanted(VaultGateTests.unlock(1), limit: 8))
      case .open: tell(.started)
      case .rekeying:
        tell(.started)
        tell(.wanted(VaultGateTests.rekey(1), limit: 8))
      case .closing:
        tell(.started)
        tell(.lockWanted(CallerID(1)))
      case .dropping:
        tell(.started)
        tell(.lockWanted(CallerID(1)))
        tell(.idle(isSaved: true))
      }
      return gate
    }
  }

  static let now = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))

  static func status(_ failures: PassphraseFailures = .none, source: KeySourceName = .passphrase) -> StoreStatus {
    StoreStatus(
      isLocked: true, isInitialized: true, keySource: source, schemaVersion: 1, noticesRollback: true,
      passphraseFailures: failures)
  }

  static func unlock(_ caller: UInt64, client: UInt64? = nil) -> KeyAttempt {
    KeyAttempt(
      caller: CallerID(caller), principal: Principal(client: client.map { ClientID($0) }, process: nil),
      wish: .unlock(nil))
  }

  static func rekey(_ caller: UInt64) -> KeyAttempt {
    KeyAttempt(caller: CallerID(caller), principal: .broker, wish: .rekey(Rekey.Params()))
  }

  /// Actions as a row of the table has them.
  static func words(_ actions: [VaultGate.Action]) -> String {
    actions.map { action in
      switch action {
      case .answer(let caller, let error): "\(caller.number):\(error?.kind.rawValue ?? "done")"
      case .refuseForNumber(let caller): "\(caller.number):tooMany"
      case .forget(let caller): "\(caller.number):forgotten"
      case .attempt(let attempt): "try \(attempt.isUnlock ? "unlock" : "rekey") \(attempt.caller.number)"
      case .keep(let failures): "keep \(failures.count)"
      case .delay(let failures, _, let time): "keep \(failures.count), then \((time - now.uptime).milliseconds) ms"
      case .wakeFirstAttempt(let time): "wait \((time - now.uptime).milliseconds) ms"
      case .close: "close"
      case .drop: "drop"
      }
    }.joined(separator: "; ")
  }

  /// The phase that an event leads to from each start, and what is done.
  private static let table: [(String, VaultGate.Event, [Start: (VaultGate.Phase, String)])] = [
    (
      "a key is to open the vault", .wanted(unlock(9), limit: 8),
      [
        .locked: (.opening, "try unlock 9"), .opening: (.opening, ""), .open: (.open, "9:done"),
        .rekeying: (.open, ""), .closing: (.locking, ""), .dropping: (.locking, ""),
      ]
    ),
    (
      "the vault is to be re-encrypted", .wanted(rekey(9), limit: 8),
      [
        .locked: (.locked, "9:vaultLocked"), .opening: (.opening, ""), .open: (.open, "try rekey 9"),
        .rekeying: (.open, ""), .closing: (.locking, ""), .dropping: (.locking, ""),
      ]
    ),
    (
      "the vault is to be locked", .lockWanted(CallerID(9)),
      [
        .locked: (.locked, "9:done"), .opening: (.opening, ""), .open: (.locking, "close"),
        .rekeying: (.locking, "close"), .closing: (.locking, ""), .dropping: (.locking, ""),
      ]
    ),
    (
      "nothing has used it for too long", .lockDue,
      [
        .locked: (.locked, ""), .opening: (.opening, ""), .open: (.locking, "close"), .rekeying: (.locking, "close"),
        .closing: (.locking, ""), .dropping: (.locking, ""),
      ]
    ),
    (
      "the attempt is over", .finished(nil),
      [
        .locked: (.locked, ""), .opening: (.opening, "1:done"), .open: (.open, ""), .rekeying: (.open, "1:done"),
        .closing: (.locking, ""), .dropping: (.locking, ""),
      ]
    ),
    (
      "the key is the right one", .accepted(status()),
      [
        .locked: (.locked, ""), .opening: (.open, ""), .open: (.open, ""), .rekeying: (.open, ""),
        .closing: (.locking, ""), .dropping: (.locking, ""),
      ]
    ),
    (
      "the key cannot be had", .refused(BrokerError(.keySourceUnavailable), isWrong: false),
      [
        .locked: (.locked, ""), .opening: (.locked, "1:keySourceUnavailable"), .open: (.open, ""),
        .rekeying: (.open, "1:keySourceUnavailable"), .closing: (.locking, ""), .dropping: (.locking, ""),
      ]
    ),
    (
      "the passphrase is wrong", .refused(BrokerError(.wrongPassphrase), isWrong: true),
      [
        .locked: (.locked, "keep 1, then 100 ms"), .opening: (.locked, "keep 1, then 100 ms"),
        .open: (.open, "keep 1, then 100 ms"), .rekeying: (.open, "keep 1, then 100 ms"),
        .closing: (.locking, "keep 1, then 100 ms"), .dropping: (.locking, "keep 1, then 100 ms"),
      ]
    ),
    (
      "nothing needs the keys", .idle(isSaved: true),
      [
        .locked: (.locked, ""), .opening: (.opening, ""), .open: (.open, ""), .rekeying: (.open, ""),
        .closing: (.locking, "drop"), .dropping: (.locking, ""),
      ]
    ),
    (
      "nothing needs the keys, but something cannot be saved", .idle(isSaved: false),
      [
        .locked: (.locked, ""), .opening: (.opening, ""), .open: (.open, ""), .rekeying: (.open, ""),
        .closing: (.locking, "1:storeFailed"), .dropping: (.locking, ""),
      ]
    ),
    (
      "the keys are gone", .dropped(status()),
      [
        .locked: (.locked, ""), .opening: (.locked, ""), .open: (.locked, ""), .rekeying: (.locked, ""),
        .closing: (.locked, "1:done"), .dropping: (.locked, "1:done"),
      ]
    ),
  ]

  @Test(arguments: table.indices, Start.allCases) func `each event in each phase`(_ row: Int, _ start: Start) throws {
    let (name, event, cells) = Self.table[row]
    var gate = start.gate()
    let actions = gate.handle(event, at: Self.now)
    let (phase, words) = try #require(cells[start])
    #expect(gate.phase == phase && Self.words(actions) == words, "\(name), \(start): \(Self.words(actions))")
  }

  @Test func `a lock overtakes those who want the vault opened, and comes after the attempt that is being made`() {
    var gate = Start.opening.gate()
    _ = gate.handle(.wanted(Self.unlock(2), limit: 8), at: Self.now)
    #expect(Self.words(gate.handle(.lockWanted(CallerID(3)), at: Self.now)) == "2:vaultLocked")
    #expect(Self.words(gate.handle(.accepted(Self.status()), at: Self.now)).isEmpty)
    #expect(Self.words(gate.handle(.finished(nil), at: Self.now)) == "1:done; close")
    #expect(Self.words(gate.handle(.idle(isSaved: true), at: Self.now)) == "drop")
    #expect(Self.words(gate.handle(.dropped(Self.status()), at: Self.now)) == "3:done" && gate.phase == .locked)
  }

  @Test func `a lock is done where the key that was being tried does not open the vault`() {
    var gate = Start.opening.gate()
    _ = gate.handle(.lockWanted(CallerID(2)), at: Self.now)
    let error = BrokerError(.keySourceUnavailable)
    let actions = gate.handle(.refused(error, isWrong: false), at: Self.now)
    #expect(Self.words(actions) == "1:keySourceUnavailable; 2:done")
  }

  @Test func `the next attempt waits until the answer to a wrong passphrase is given`() {
    var gate = Start.opening.gate()
    _ = gate.handle(.wanted(Self.unlock(2), limit: 8), at: Self.now)
    let error = BrokerError(.wrongPassphrase)
    #expect(Self.words(gate.handle(.refused(error, isWrong: true), at: Self.now)) == "keep 1, then 100 ms")
    #expect(Self.words(gate.handle(.finished(error), at: Self.now)) == "1:wrongPassphrase; try unlock 2")
    #expect(Self.words(gate.handle(.accepted(Self.status()), at: Self.now)) == "keep 0")
  }

  @Test func `after a start the first attempt is kept back for what is left of the delay`() {
    let failures = PassphraseFailures(count: 5, lastAt: Self.now.wall)
    var gate = VaultGate(Self.status(failures), at: Self.now)
    #expect(Self.words(gate.handle(.wanted(Self.unlock(1), limit: 8), at: Self.now)) == "wait 1600 ms")
    #expect(Self.words(gate.handle(.wanted(Self.unlock(2), limit: 8), at: Self.now)).isEmpty)
    #expect(Self.words(gate.handle(.firstAttemptDue, at: Self.now)) == "try unlock 1")
  }

  @Test func `a process that guesses often is remembered, however many guess once`() {
    var queue = KeyAttemptQueue()
    func principal(_ process: Int32) -> Principal {
      Principal(client: ClientID(UInt64(process)), process: process)
    }
    func attempt(_ process: Int32) -> KeyAttempt {
      KeyAttempt(caller: CallerID(UInt64(process)), principal: principal(process), wish: .unlock(nil))
    }
    for _ in 0..<2 { queue.noteFailure(of: principal(1)) }
    for process in 2..<3000 { queue.noteFailure(of: principal(Int32(process))) }
    _ = queue.add(attempt(1), limit: 8)
    _ = queue.add(attempt(5000), limit: 8)
    #expect(queue.takeNext()?.caller == CallerID(5000))
  }

  @Test func `who guesses wrongly keeps nobody else out, and leaves nothing behind`() {
    var gate = VaultGate(Self.status(), at: Self.now)
    let error = BrokerError(.wrongPassphrase)
    _ = gate.handle(.wanted(Self.unlock(1, client: 1), limit: 1), at: Self.now)
    _ = gate.handle(.refused(error, isWrong: true), at: Self.now)
    #expect(Self.words(gate.handle(.wanted(Self.unlock(2, client: 1), limit: 1), at: Self.now)).isEmpty)
    #expect(Self.words(gate.handle(.wanted(Self.unlock(3, client: 1), limit: 1), at: Self.now)) == "3:overloaded")
    #expect(Self.words(gate.handle(.wanted(Self.unlock(4, client: 2), limit: 1), at: Self.now)) == "2:tooMany")
    #expect(Self.words(gate.handle(.clientLeft(ClientID(2)), at: Self.now)) == "4:forgotten" && gate.waitingCount == 0)
  }
}
