package import BrokerProtocol
import LinuxSystem
package import Sealing
package import SecretMemory

/// Gets key-encryption keys from their sources, and opens wrapped data keys.
///
/// Everything here waits: for the disk, for another program, for a key derivation that takes a second. So it runs on
/// the vault's own thread. A new key is used in three steps, and a process that ends between any two of them has a
/// vault that opens: ``newKey(from:passphrase:replacing:)``, then the wrapped data key is made durable in the database,
/// then ``settle(_:replacing:)``.
package struct KeyEncryption: Sendable {
  /// The settings of the key sources.
  package let settings: KeySourceSettings

  /// The length of a new passphrase in bytes: shorter ones are guessed however slow the derivation is, longer ones are
  /// a mistake.
  package static let passphraseByteCounts = 8...1024

  private let passphraseCost: Argon2Cost
  private let availableMemory: @Sendable () -> Int64?

  /// Prepares; nothing is read yet.
  ///
  /// - Parameters:
  ///   - settings: where the sources find their secrets.
  ///   - passphraseCost: the work that a new passphrase is protected with; less for tests.
  ///   - availableMemory: how many bytes there are for a derivation; nil where that is not known.
  package init(
    _ settings: KeySourceSettings, passphraseCost: Argon2Cost = .passphrase,
    availableMemory: @escaping @Sendable () -> Int64? = { MachineLimits.availableMemory }
  ) {
    self.settings = settings
    self.passphraseCost = passphraseCost
    self.availableMemory = availableMemory
  }

  /// Whether a passphrase is good enough to begin with.
  ///
  /// - Throws: `KeySourceError.passphraseLength` unless its length is in ``passphraseByteCounts``.
  package static func checkNew(passphrase: Secret) throws(KeySourceError) {
    guard passphraseByteCounts.contains(passphrase.byteCount) else { throw .passphraseLength }
  }

  /// A key to wrap a data key with from now on.
  ///
  /// A key file is staged beside the one in use, and takes its place in ``settle(_:replacing:)``. Only for a new vault,
  /// a key file that exists there already is taken as it is.
  package func newKey(
    from source: KeySourceName, passphrase: Secret? = nil, replacing current: WrappedKey? = nil
  ) throws(KeySourceError) -> KeyEncryptionKey {
    switch source {
    case .file:
      let key = try newFileKey(replacing: current)
      return KeyEncryptionKey(key: key, source: .file, derivation: nil)
    case .passphrase:
      guard let passphrase else { throw .passphraseMissing }
      try Self.checkNew(passphrase: passphrase)
      return try derive(from: passphrase, source, KeyDerivation.Parameters(new: passphraseCost))
    case .credential:
      return try derive(from: CredentialFile(settings).read(), source, KeyDerivation.Parameters(new: .retrievedSecret))
    case .command:
      return try derive(from: KeyCommand(settings).run(), source, KeyDerivation.Parameters(new: .retrievedSecret))
    }
  }

  /// Finishes after the wrapped data key was made durable; doing it again, or in the next process, does no harm.
  ///
  /// - Parameters:
  ///   - source: of the key that is in use now.
  ///   - previous: of the one that it replaced: a key file that nothing needs any more is removed.
  /// - Throws: `KeySourceError`; the vault opens all the same.
  package func settle(_ source: KeySourceName, replacing previous: KeySourceName? = nil) throws(KeySourceError) {
    if source == .file {
      try settings.keyFile().promoteNext()
    } else if previous == .file {
      let file = try settings.keyFile()
      try file.discardNext()
      try file.remove()
    }
  }

  /// Discards a new key after what was wrapped under it did not become durable.
  ///
  /// - Throws: `KeySourceError`; what is left over then does no harm.
  package func discard(_ new: KeyEncryptionKey) throws(KeySourceError) {
    if new.source == .file { try settings.keyFile().discardNext() }
  }

  /// Opens a data key with the present key of its source.
  ///
  /// With a key file, one that was staged by a process that ended too early is taken where it is the right one, and put
  /// in its place.
  package func unwrap(
    _ wrapped: WrappedKey, vaultID: [UInt8], passphrase: Secret? = nil
  ) throws(KeyRingError) -> SealingKey {
    let secret: () throws(KeySourceError) -> Secret
    switch wrapped.source {
    case .file: return try unwrapWithFile(wrapped, vaultID)
    case .passphrase:
      secret = { () throws(KeySourceError) in
        guard let passphrase else { throw .passphraseMissing }
        return passphrase
      }
    case .credential: secret = { () throws(KeySourceError) in try CredentialFile(settings).read() }
    case .command: secret = { () throws(KeySourceError) in try KeyCommand(settings).run() }
    }
    guard let derivation = wrapped.derivation else { throw .damaged }
    let kek: KeyEncryptionKey
    do throws(KeySourceError) {
      kek = try derive(from: secret(), wrapped.source, derivation)
    } catch { throw .unavailable(error) }
    return try wrapped.unwrap(with: kek.key, vaultID: vaultID)
  }

  private func unwrapWithFile(_ wrapped: WrappedKey, _ vaultID: [UInt8]) throws(KeyRingError) -> SealingKey {
    let wanted = try wrapped.keyEncryptionKeyID()
    let (file, kek, isStaged) = try fileKey(wanted)
    let dataKey = try wrapped.unwrap(with: kek, vaultID: vaultID)
    // Only now is it known that the staged key is the right one.
    if isStaged { do { try file.promoteNext() } catch { throw .unavailable(error) } }
    return dataKey
  }

  private func fileKey(
    _ wanted: SealingKey.ID
  ) throws(KeyRingError) -> (file: KeyFile, key: SealingKey, isStaged: Bool) {
    do throws(KeySourceError) {
      let file = try settings.keyFile()
      let present = try file.readIfPresent()
      if let present, present.id == wanted { return (file, present, false) }
      if let next = try file.readNext(), next.id == wanted { return (file, next, true) }
      guard let present else { throw .missing(path: file.path) }
      return (file, present, false)
    } catch { throw .unavailable(error) }
  }

  private func newFileKey(replacing current: WrappedKey?) throws(KeySourceError) -> SealingKey {
    let file = try settings.keyFile()
    guard let current else {
      guard let provisioned = try file.readIfPresent() else { return try file.stageNext() }
      // Left over from a start that ended too early: nothing was sealed with it.
      try file.discardNext()
      return provisioned
    }
    return try file.stageNext(keeping: try? current.keyEncryptionKeyID())
  }

  private func derive(
    from secret: Secret, _ source: KeySourceName, _ parameters: KeyDerivation.Parameters
  ) throws(KeySourceError) -> KeyEncryptionKey {
    guard Argon2Cost.fits(memoryKiB: parameters.memoryKiB, in: availableMemory()) else {
      throw .notEnoughMemory(kiB: parameters.memoryKiB)
    }
    do throws(SealingError) {
      let key = try KeyDerivation.key(from: secret, parameters)
      return KeyEncryptionKey(key: key, source: source, derivation: parameters)
    } catch {
      throw error == .secretMemoryExhausted ? .secretMemoryExhausted : .notEnoughMemory(kiB: parameters.memoryKiB)
    }
  }
}
