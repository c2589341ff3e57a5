import BrokerCore
import BrokerProtocol
import Glibc
import LinuxSystem
import Records
import SQLiteStore
import Sealing
import SecretMemory
import Synchronization
import TestSupport
import Testing

/// Opening, closing and changing what the vault is sealed under.
@Suite(.standardTimeLimit) struct VaultKeyTests {
  private let passphrase: Secret
  private let other: Secret

  init() throws {
    passphrase = try Secret(utf8: "fake passphrase one")
    other = try Secret(utf8: "fake passphrase two")
  }

  private func failure(_ body: () async throws -> Void) async -> KeyFailure? {
    do {
      try await body()
      return nil
    } catch { return error as? KeyFailure }
  }

  @Test func `a locked vault gives nothing but sequences, and opens again`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.save(Sample.living("a"))
    let token = try Secret(utf8: "fake")
    let name = vault.entropy.tokenID(of: token)
    await vault.lock()
    #expect(await vault.status.isLocked)
    await #expect(throws: StoreFailure.locked) { try await vault.load() }
    await #expect(throws: StoreFailure.locked) { try await vault.save(Sample.living("b")) }
    await #expect(throws: StoreFailure.locked) { try await vault.events(after: 0, through: 1) }
    await #expect(throws: StoreFailure.locked) { try await vault.check(isFull: false) }
    #expect(await failure { try await vault.rekey(Rekey.Params()) } == .store(.locked))
    #expect(vault.entropy.tokenID(of: token) != name)
    try await vault.reserveSequences(through: 77)
    try await vault.unlock(nil)
    #expect(vault.entropy.tokenID(of: token) == name)
    let contents = try await vault.load()
    #expect(try contents.records == [Sample.living("a")] && contents.lastSequence == 77 && !contents.isSuspect)
    try await vault.close()
  }

  @Test func `sequences that were reserved while locked survive the process`() async throws {
    let place = try TemporaryVault()
    try await place.open().close()
    let locked = try await place.locked()
    try await locked.reserveSequences(through: 123)
    let copy = try place.copy()
    try await locked.close()
    for place in [copy, place] {
      let vault = try await place.open()
      let contents = try await vault.load()
      #expect(contents.lastSequence == 123 && !contents.isSuspect)
      try await vault.close()
    }
  }

  @Test func `a passphrase opens it, another one does not`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.locked(.passphrase)
    let fresh = await vault.status
    #expect(!fresh.isInitialized && fresh.keySource == .passphrase)
    #expect(await failure { try await vault.unlock(nil) } == .passphraseMissing)
    let short = try Secret(utf8: "short")
    if case .passphraseUnsuitable? = await failure({ try await vault.unlock(short) }) {
    } else {
      Issue.record("a short passphrase was taken")
    }
    try await vault.reserveSequences(through: 9)
    try await vault.unlock(passphrase)
    try await vault.save(Sample.living("a"))
    try await vault.close()
    let again = try await place.locked(.passphrase)
    #expect(await again.status.isInitialized)
    #expect(await failure { try await again.unlock(other) } == .wrongPassphrase)
    #expect(await failure { try await again.unlock(nil) } == .passphraseMissing)
    try await again.unlock(passphrase)
    let contents = try await again.load()
    #expect(try contents.records == [Sample.living("a")] && contents.lastSequence == 9)
    try await again.close()
    #expect(!place.files.contains { $0.hasPrefix("vault.key") })
  }

  @Test func `the recorded source opens the vault, whatever the configuration names`() async throws {
    let place = try TemporaryVault()
    try await place.open().close()
    let vault = try await place.locked(.passphrase)
    #expect(await vault.status.keySource == .file)
    try await vault.unlock(nil)
    #expect(try await vault.check(isFull: false).map(\.kind).contains("keySourceDiffers"))
    // The configuration's source is what `rekey` goes to.
    try await vault.rekey(Rekey.Params(newPassphrase: passphrase))
    #expect(await vault.status.keySource == .passphrase)
    #expect(try await !vault.check(isFull: false).map(\.kind).contains("keySourceDiffers"))
    // The old key file is kept until the new key has opened the vault.
    #expect(place.files.contains("vault.key"))
    await vault.lock()
    #expect(await failure { try await vault.unlock(other) } == .wrongPassphrase)
    #expect(place.files.contains("vault.key"))
    try await vault.unlock(passphrase)
    #expect(!place.files.contains("vault.key"))
    try await vault.close()
  }

  @Test func `rekey from a passphrase asks for it`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.locked(.passphrase)
    try await vault.unlock(passphrase)
    try await vault.save(Sample.living("a"))
    #expect(await failure { try await vault.rekey(Rekey.Params(newPassphrase: other)) } == .passphraseMissing)
    for params in [
      Rekey.Params(passphrase: other, newPassphrase: other), Rekey.Params(keySource: .file, passphrase: other),
    ] { #expect(await failure { try await vault.rekey(params) } == .wrongPassphrase) }
    try await vault.rekey(Rekey.Params(passphrase: passphrase, newPassphrase: other))
    try await vault.close()
    let again = try await place.locked(.passphrase)
    #expect(await failure { try await again.unlock(passphrase) } == .wrongPassphrase)
    try await again.unlock(other)
    // The passphrase stays the one of now where no new one is given.
    try await again.rekey(Rekey.Params(passphrase: other))
    await again.lock()
    try await again.unlock(other)
    try await again.rekey(Rekey.Params(keySource: .file, passphrase: other))
    #expect(try await again.load().records == [Sample.living("a")])
    try await again.close()
    let filed = try await place.locked(.passphrase)
    try await filed.unlock(nil)
    try await filed.close()
  }

  @Test func `a new passphrase for a source that takes none is refused`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.locked(.passphrase)
    try await vault.unlock(passphrase)
    try await vault.close()
    let configured = try await place.locked(.file)
    try await configured.unlock(passphrase)
    let params = Rekey.Params(passphrase: passphrase, newPassphrase: other)
    if case .passphraseUnsuitable? = await failure({ try await configured.rekey(params) }) {
    } else {
      Issue.record("the passphrase was dropped")
    }
    #expect(await configured.status.keySource == .passphrase)
    try await configured.close()
  }

  @Test func `rekey seals everything anew, and what was tampered with stays noticed`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await fill(vault)
    try await vault.save(Sample.living("bad"))
    try await vault.close()
    try place.tamper("UPDATE session SET sealed = zeroblob(200) WHERE profile = 'bad'")
    let before = try sealedValues(place)
    let reopened = try await place.open()
    let contents = try await reopened.load()
    try await reopened.rekey(Rekey.Params())
    let after = try await reopened.load()
    #expect(after.records == contents.records && after.tampered == contents.tampered && after.tampered.count == 1)
    #expect(after.pendingLogins == contents.pendingLogins && after.intents == contents.intents)
    #expect(try await reopened.events(after: 0, through: .max).events.count == 3)
    try await reopened.close()
    // Not one sealed value is what it was, but for the one that nobody can open.
    #expect(try Set(sealedValues(place)).intersection(before) == [[UInt8](repeating: 0, count: 200)])
    let again = try await place.open()
    #expect(try await again.load().records == contents.records)
    try await again.close()
  }

  private func fill(_ vault: Vault) async throws {
    for record in try Sample.all() { try await vault.save(record) }
    try await vault.commit([
      .openIntent(Sample.intent("living", generation: 1)), .openLogin(Sample.login("other")),
      .event(Sample.event(1)), .event(Sample.event(2)), .event(Sample.event(3)),
    ])
  }

  private func sealedValues(_ place: TemporaryVault) throws -> [[UInt8]] {
    try place.withConnection { connection in
      try SealedCells.allCases.flatMap { table in try table.cells(connection).map(\.box) }
    }
  }

  /// What a process leaves when it ends at each step of what `body` does.
  private func remains(
    of place: TemporaryVault, _ source: KeySourceName, _ body: (Vault) async throws -> Void
  ) async throws -> [(step: VaultStep, place: TemporaryVault)] {
    let copies = Mutex<[(step: VaultStep, place: TemporaryVault)]>([])
    let vault = try await place.locked(
      source,
      reached: { step in
        do {
          let copy = try place.copy()
          copies.withLock { $0.append((step, copy)) }
        } catch { Issue.record("no copy: \(error)") }
      })
    try await body(vault)
    try await vault.close()
    return copies.withLock { $0 }
  }

  @Test func `a first start that ends anywhere leaves a vault that opens`() async throws {
    let place = try TemporaryVault()
    let remains = try await remains(of: place, .file) { try await $0.unlock(nil) }
    #expect(remains.map(\.step) == [.keyReady, .resealed, .committed, .settled])
    for (step, remaining) in remains {
      let vault = try await remaining.open()
      #expect(try await !vault.load().isSuspect, "\(step)")
      try await vault.save(Sample.living("a"))
      try await vault.close()
      #expect(remaining.files == ["vault.key", "vault.sqlite"], "\(step)")
      let again = try await remaining.open()
      #expect(try await again.load().records == [Sample.living("a")], "\(step)")
      try await again.close()
    }
  }

  @Test func `no key that a rekey has made useless outlives the next start`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.rekey(Rekey.Params())
    try await vault.rekey(Rekey.Params(keySource: .passphrase, newPassphrase: passphrase))
    try await vault.rekey(Rekey.Params(keySource: .passphrase, passphrase: passphrase, newPassphrase: other))
    try await vault.close()
    let again = try await place.locked()
    try await again.unlock(other)
    try await again.close()
    #expect(place.files == ["vault.sqlite"])
  }

  enum Change: CaseIterable, Sendable { case fileToFile, fileToPassphrase, passphraseToPassphrase, passphraseToFile }

  @Test(arguments: Change.allCases)
  func `a rekey that ends anywhere leaves a vault that opens`(_ change: Change) async throws {
    let place = try TemporaryVault()
    let start: KeySourceName = change == .fileToFile || change == .fileToPassphrase ? .file : .passphrase
    let params =
      switch change {
      case .fileToFile: Rekey.Params()
      case .fileToPassphrase: Rekey.Params(keySource: .passphrase, newPassphrase: other)
      case .passphraseToPassphrase: Rekey.Params(passphrase: passphrase, newPassphrase: other)
      case .passphraseToFile: Rekey.Params(keySource: .file, passphrase: passphrase)
      }
    let made = try await place.locked(start)
    try await made.unlock(start == .file ? nil : passphrase)
    try await fill(made)
    try await made.close()
    let remains = try await remains(of: place, start) { vault in
      try await vault.unlock(start == .file ? nil : passphrase)
      try await vault.rekey(params)
    }
    #expect(remains.map(\.step) == [.keyReady, .resealed, .committed, .settled])
    for (step, remaining) in remains {
      try place.restore(remaining)
      let vault = try await place.locked(start)
      let isNew = step == .committed || step == .settled
      #expect(await vault.status.keySource == (isNew ? params.keySource ?? start : start), "\(step)")
      let secret = await vault.status.keySource == .file ? nil : isNew ? other : passphrase
      try await vault.unlock(secret)
      let contents = try await vault.load()
      #expect(!contents.isSuspect && contents.tampered.isEmpty && contents.records.count == 4, "\(step)")
      #expect(try await vault.events(after: 0, through: .max).events.count == 3, "\(step)")
      let isFile = await vault.status.keySource == .file
      try await vault.close()
      // Where it is not needed any more, the key file is gone after the next start.
      #expect(place.files == (isFile ? ["vault.key"] : []) + ["vault.sqlite"], "\(step)")
    }
  }
}
