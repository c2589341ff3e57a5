import BrokerProtocol
import Glibc
import Records
import Sealing
import SecretMemory
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct KeyEncryptionTests {
  private let place: KeyPlace
  private let dataKey: SealingKey

  init() throws {
    place = try KeyPlace()
    dataKey = try .random()
  }

  private func wrap(_ kek: KeyEncryptionKey) -> WrappedKey { .wrap(dataKey, with: kek, vaultID: place.vaultID) }

  private func error(_ wrapped: WrappedKey, passphrase: String? = nil, command: [String] = []) -> KeyRingError? {
    keyRingError {
      let secret = try passphrase.map { try Secret(utf8: $0) }
      let opened = try place.encryption(command: command).unwrap(
        wrapped, vaultID: place.vaultID, passphrase: secret)
      #expect(opened.id == dataKey.id)
    }
  }

  // MARK: a secret to derive a key from

  @Test func `a passphrase opens what it wrapped, and no other does`() throws {
    let kek = try place.encryption().newKey(from: .passphrase, passphrase: Secret(utf8: "correct horse"))
    let wrapped = wrap(kek)
    #expect(wrapped.source == .passphrase && wrapped.derivation?.passes == 2)
    #expect(error(wrapped, passphrase: "correct horse") == nil)
    #expect(error(wrapped, passphrase: "correct horse ") == .wrongKey)
    #expect(error(wrapped, passphrase: "") == .wrongKey)
    #expect(error(wrapped) == .unavailable(.passphraseMissing))
    #expect(place.scratch.names.isEmpty)
  }

  @Test func `what people choose is protected with more work than what programs keep`() {
    #expect(Argon2Cost.passphrase == Argon2Cost(passes: 3, memoryKiB: 262_144))
    #expect(Argon2Cost.retrievedSecret == Argon2Cost(passes: 2, memoryKiB: 65_536))
  }

  @Test(arguments: [(7, false), (8, true), (1024, true), (1025, false)])
  func `a new passphrase has a length`(_ count: Int, _ isAccepted: Bool) throws {
    let passphrase = try Secret(utf8: String(repeating: "p", count: count))
    #expect(
      keySourceError { try KeyEncryption.checkNew(passphrase: passphrase) } == (isAccepted ? nil : .passphraseLength))
    guard !isAccepted else { return }
    #expect(
      keySourceError { _ = try place.encryption().newKey(from: .passphrase, passphrase: passphrase) }
        == .passphraseLength)
  }

  @Test func `a passphrase must be given`() {
    #expect(keySourceError { _ = try place.encryption().newKey(from: .passphrase) } == .passphraseMissing)
  }

  @Test func `a credential opens what it wrapped, and no other does`() throws {
    try place.scratch.write("from the service manager\n", to: "secret")
    let wrapped = wrap(try place.encryption().newKey(from: .credential))
    #expect(wrapped.source == .credential && wrapped.derivation?.memoryKiB == 65536)
    #expect(error(wrapped) == nil)
    try place.scratch.write("from the service manager", to: "secret")
    #expect(error(wrapped) == nil)
    try place.scratch.write("from somebody else\n", to: "secret")
    #expect(error(wrapped) == .wrongKey)
    unlink(place.scratch.file("secret"))
    #expect(error(wrapped) == .unavailable(.credential(.missing(path: place.scratch.file("secret")))))
  }

  @Test func `a command opens what it wrapped, and no other does`() throws {
    let wrapped = wrap(try place.encryption(command: ["echo", "kept", "here"]).newKey(from: .command))
    #expect(wrapped.source == .command)
    #expect(error(wrapped, command: ["printf", "kept here"]) == nil)
    #expect(error(wrapped, command: ["echo", "kept", "there"]) == .wrongKey)
    #expect(error(wrapped) == .unavailable(.command(.notConfigured)))
  }

  @Test func `equal secrets make different keys`() throws {
    let secret = try Secret(utf8: "correct horse")
    let first = try place.encryption().newKey(from: .passphrase, passphrase: secret)
    let second = try place.encryption().newKey(from: .passphrase, passphrase: secret)
    #expect(first.key.id != second.key.id && first.derivation?.salt != second.derivation?.salt)
  }

  @Test func `a derived key without its parameters is damage`() throws {
    let kek = try SealingKey.random()
    let wrapped = WrappedKey.wrap(dataKey, with: kek, source: .passphrase, derivation: nil, vaultID: place.vaultID)
    #expect(error(wrapped, passphrase: "correct horse") == .damaged)
  }

  // MARK: a key file

  @Test func `a new vault gets a key file in two steps`() throws {
    let kek = try place.encryption().newKey(from: .file)
    #expect(place.scratch.names == ["vault.key.next"])
    let wrapped = wrap(kek)
    for _ in 0..<2 { try place.encryption().settle(.file) }
    #expect(place.scratch.names == ["vault.key"])
    #expect(error(wrapped) == nil)
  }

  @Test func `a key file that is there already is taken by a new vault`() throws {
    let provisioned = try SealingKey.random()
    try place.write(provisioned, to: "vault.key")
    try place.write(.random(), to: "vault.key.next")
    #expect(try place.encryption().newKey(from: .file).key.id == provisioned.id)
    try place.encryption().settle(.file)
    #expect(place.scratch.names == ["vault.key"])
    #expect(try place.file.read().id == provisioned.id)
  }

  @Test func `a start that ended before its key was needed leaves nothing in the way`() throws {
    let lost = try place.encryption().newKey(from: .file)
    let kek = try place.encryption().newKey(from: .file)
    #expect(kek.key.id != lost.key.id)
    #expect(error(wrap(kek)) == nil)
    #expect(place.scratch.names == ["vault.key"])
  }

  /// What a key file may hold.
  enum Content: CaseIterable {
    case nothing, right, wrong, torn
  }

  @Test(arguments: Content.allCases, Content.allCases)
  func `the right key is found wherever a crash left it`(_ present: Content, _ next: Content) throws {
    let kek = try SealingKey.random()
    let wrapped = WrappedKey.wrap(dataKey, with: kek, source: .file, derivation: nil, vaultID: place.vaultID)
    for (content, name) in [(present, "vault.key"), (next, "vault.key.next")] {
      switch content {
      case .nothing: break
      case .right: try place.write(kek, to: name)
      case .wrong: try place.write(.random(), to: name)
      case .torn: try place.scratch.write([1, 2, 3], to: name)
      }
    }
    let before = place.scratch.names
    let expected: KeyRingError? =
      switch (present, next) {
      case (.torn, _): .unavailable(.wrongLength(path: place.path))
      case (.right, _), (_, .right): nil
      case (.nothing, _): .unavailable(.missing(path: place.path))
      case (.wrong, _): .wrongKey
      }
    #expect(error(wrapped) == expected)
    let isPromoted = expected == nil && present != .right
    #expect(place.scratch.names == (isPromoted ? ["vault.key"] : before))
    if expected == nil { #expect(try place.file.read().id == kek.id) }
    // And once more, as at the next start.
    #expect(error(wrapped) == expected)
  }

  @Test func `a changed key file is safe at each step`() throws {
    let encryption = place.encryption()
    let old = wrap(try encryption.newKey(from: .file))
    try encryption.settle(.file)
    let kek = try encryption.newKey(from: .file, replacing: old)
    #expect(error(old) == nil && place.scratch.names == ["vault.key", "vault.key.next"])
    try encryption.discard(kek)
    #expect(error(old) == nil && place.scratch.names == ["vault.key"])
    let new = wrap(try encryption.newKey(from: .file, replacing: old))
    // From here on the database says so, and the process may end.
    #expect(error(new) == nil && place.scratch.names == ["vault.key"])
    try encryption.settle(.file, replacing: .file)
    #expect(error(new) == nil && error(old) == .wrongKey)
  }

  @Test func `a second change does not lose the key of a first that was not finished`() throws {
    let encryption = place.encryption()
    let first = wrap(try encryption.newKey(from: .file))
    try encryption.settle(.file)
    let second = wrap(try encryption.newKey(from: .file, replacing: first))
    _ = try encryption.newKey(from: .file, replacing: second)
    // The third key was not stored: the second is still the right one.
    #expect(error(second) == nil)
  }

  @Test func `a key file that nothing needs any more is removed`() throws {
    let encryption = place.encryption()
    let old = wrap(try encryption.newKey(from: .file))
    try encryption.settle(.file)
    let new = wrap(
      try encryption.newKey(from: .passphrase, passphrase: Secret(utf8: "correct horse"), replacing: old))
    #expect(error(old) == nil)
    for _ in 0..<2 { try encryption.settle(.passphrase, replacing: .file) }
    #expect(place.scratch.names.isEmpty)
    #expect(error(new, passphrase: "correct horse") == nil)
    try encryption.settle(.credential, replacing: .passphrase)
    let back = wrap(try encryption.newKey(from: .file, replacing: new))
    try encryption.settle(.file, replacing: .passphrase)
    #expect(error(back) == nil && place.scratch.names == ["vault.key"])
  }

  @Test func `a damaged ring moves no key file`() throws {
    let kek = try place.encryption().newKey(from: .file)
    let wrapped = wrap(kek)
    var box = wrapped.box
    box[box.count - 1] ^= 1
    let damaged = WrappedKey(dataKeyID: dataKey.id, source: .file, derivation: nil, box: box)
    #expect(error(damaged) == .damaged && place.scratch.names == ["vault.key.next"])
  }

  @Test func `without a place there is no key file`() throws {
    let nowhere = KeyEncryption(KeySourceSettings(keyFilePath: nil))
    #expect(keySourceError { _ = try nowhere.newKey(from: .file) } == .noPlaceForKeyFile)
    #expect(KeySourceError.noPlaceForKeyFile.description.contains("--state"))
    let wrapped = WrappedKey.wrap(
      dataKey, with: try .random(), source: .file, derivation: nil, vaultID: place.vaultID)
    #expect(
      keyRingError { _ = try nowhere.unwrap(wrapped, vaultID: place.vaultID) } == .unavailable(.noPlaceForKeyFile))
  }

  @Test func `a derivation that there is no memory for is refused before it begins`() throws {
    let kind = KeyEncryption(KeySourceSettings(keyFilePath: nil), availableMemory: { 256 << 20 })
    #expect(throws: KeySourceError.notEnoughMemory(kiB: 256 << 10)) {
      _ = try kind.newKey(from: .passphrase, passphrase: Secret(utf8: "fake passphrase"))
    }
  }

  @Test(arguments: [KeySourceName.passphrase, .credential, .command])
  func `a stored derivation that there is no memory for is refused before it begins`(_ source: KeySourceName) throws {
    let place = try KeyPlace()
    try place.scratch.write("from the service manager", to: "secret")
    let kind = KeyEncryption(place.settings(command: ["/bin/echo", "a secret"]), availableMemory: { 256 << 20 })
    // The most that is ever computed for a key: a row that somebody has changed.
    let forged = WrappedKey(
      dataKeyID: try SealingKey.random().id, source: source,
      derivation: try KeyDerivation.Parameters(passes: 3, memoryKiB: 256 << 10, salt: Array(0...15)), box: [])
    let expected = KeyRingError.unavailable(.notEnoughMemory(kiB: 256 << 10))
    let passphrase = try Secret(utf8: "fake passphrase")
    #expect(
      keyRingError { _ = try kind.unwrap(forged, vaultID: place.vaultID, passphrase: passphrase) } == expected)
  }
}
