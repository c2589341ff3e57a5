import BrokerCore
import BrokerProtocol
import Records
import SQLiteStore
import TestSupport
import Testing

/// A disk that fails, is full, or loses its power at any moment of a vault's life.
///
/// Whatever was acknowledged is there afterwards, each change is there as a whole or not at all, the vault opens with
/// its key, and nothing is taken for tampering.
@Suite(.standardTimeLimit) struct VaultFaultTests {
  /// What a life was told.
  private struct Progress {
    /// Changes that were acknowledged, and those that were tried, by number.
    var acknowledged: Set<UInt64> = []
    var attempted: Set<UInt64> = []
    /// The same of the generations of one session that is refreshed again and again.
    var lastRefresh: UInt64 = 0
    var refreshes: Set<UInt64> = []
    var failures = 0

    mutating func attempt(_ body: () async throws -> Void) async -> Bool {
      do {
        try await body()
        return true
      } catch {
        failures += 1
        return false
      }
    }
  }

  private static let changes = 1...2 as ClosedRange<UInt64>
  private static let generations = 1...2 as ClosedRange<UInt64>

  /// Makes a vault, logs in, refreshes, logs out, gives it a new key, and closes it.
  private static func live(in place: TemporaryVault) async throws -> Progress {
    var progress = Progress()
    guard let vault = try? await place.locked() else {
      progress.failures += 1
      return progress
    }
    if await progress.attempt({ try await vault.unlock(nil) }) { await use(vault, &progress) }
    _ = await progress.attempt { try await vault.close() }
    return progress
  }

  private static func use(_ vault: Vault, _ progress: inout Progress) async {
    for number in changes {
      progress.attempted.insert(number)
      let isDone = await progress.attempt { try await vault.commit(change(number)) }
      if isDone { progress.acknowledged.insert(number) }
    }
    for generation in generations {
      _ = await progress.attempt {
        try await vault.commit([.openIntent(Sample.intent("r", generation: generation - 1))])
      }
      progress.refreshes.insert(generation)
      let isDone = await progress.attempt {
        let record = try Sample.living("r", generation: generation, token: "fake-\(generation)")
        try await vault.commit([.record(record), .event(Sample.event(100 + generation))])
      }
      if isDone { progress.lastRefresh = generation }
    }
    _ = await progress.attempt { try await vault.reserveSequences(through: 5000) }
    _ = await progress.attempt { try await vault.rekey(Rekey.Params()) }
  }

  /// A login: a session, an event, and a code that is waited for, all in one.
  private static func change(_ number: UInt64) throws -> [StoreStep] {
    let name = "p\(number)"
    return [.record(try Sample.living(name)), .event(try Sample.event(number)), .openLogin(try Sample.login(name))]
  }

  /// Opens what a life has left, and compares.
  private static func check(_ place: TemporaryVault, _ progress: Progress, _ what: String) async throws {
    let vault: Vault
    do { vault = try await place.open() } catch {
      Issue.record("\(what): \(error), with \(place.files)")
      return
    }
    let contents = try await vault.load()
    #expect(!contents.isSuspect && contents.tampered.isEmpty, "\(what): taken for tampering")
    #expect(try await vault.check(isFull: true).isEmpty, "\(what)")
    let events = Set(try await vault.events(after: 0, through: .max).events.map(\.sequence))
    for number in changes {
      let name = try Sample.profile("p\(number)")
      let isThere = contents.records.contains { $0.profile == name }
      #expect(isThere || !progress.acknowledged.contains(number), "\(what): login \(number) is lost")
      #expect(!isThere || progress.attempted.contains(number), "\(what): login \(number) was never tried")
      #expect(isThere == events.contains(number), "\(what): half of login \(number)")
      #expect(isThere == contents.pendingLogins.contains { $0.login.profile == name }, "\(what): half of it")
    }
    let refreshed = try contents.records.first { $0.profile == (try Sample.profile("r")) }
    let generation = refreshed?.generation ?? 0
    #expect(generation >= progress.lastRefresh, "\(what): generation \(generation) is back")
    if let refreshed {
      #expect(refreshed == (try Sample.living("r", generation: generation, token: "fake-\(generation)")), "\(what)")
      #expect(events.contains(100 + generation), "\(what): half of refresh \(generation)")
    }
    try await vault.close()
  }

  private static func operationCount() async throws -> Int {
    let place = try TemporaryVault()
    let plan = FaultPlan(prefix: place.directory)
    #expect(try await live(in: place).failures == 0)
    return plan.operationCount
  }

  @Test(arguments: [
    (FaultPlan.Fault.io, false), (.tornIO, true), (.tornFull, true), (.powerCut, true),
  ])
  func `whichever operation fails, the vault keeps what it promised`(
    _ fault: FaultPlan.Fault, _ repeatedly: Bool
  ) async throws {
    let count = try await Self.operationCount()
    for operation in stride(from: 1, through: count, by: Patience.isInstrumented ? 7 : 1) {
      let place = try TemporaryVault()
      let plan = FaultPlan(prefix: place.directory)
      plan.failing(operation: operation, with: fault, repeatedly: repeatedly, seed: UInt64(operation))
      let progress = try await Self.live(in: place)
      let what = plan.operations.dropFirst(operation - 1).first.map { "\($0)" } ?? "none"
      plan.disarm()
      try await Self.check(place, progress, "\(fault) at operation \(operation) (\(what))")
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `a rekey that failed may come back, and the vault opens all the same`(
    _ repeatedly: Bool, _ locks: Bool
  ) async throws {
    for operation in 1...100 {
      let place = try TemporaryVault()
      let plan = FaultPlan(prefix: place.directory)
      let vault = try await place.open()
      try await vault.save(Sample.living("a"))
      plan.failing(operation: plan.operationCount + operation, with: .io, repeatedly: repeatedly)
      let isDone = (try? await vault.rekey(Rekey.Params())) != nil
      plan.recover()
      if locks {
        await vault.lock()
        try await vault.unlock(nil)
      }
      // What a process leaves that ends here.
      let copy = try place.copy()
      try await vault.close()
      let again = try await copy.open()
      #expect(try await again.load().records == [Sample.living("a")], "operation \(operation)")
      try await again.close()
      if isDone && plan.failureCount == 0 { return }
    }
    Issue.record("a rekey of more than a hundred operations")
  }
}
