import BrokerCore
import ClientSocket
import LinuxSystem
import Sealing
import Vault

/// Opens the vault of a state directory with its key.
enum VaultOpening {
  /// An open vault, and the names and handles that are made with its key.
  struct Opened {
    /// The open vault.
    let vault: Vault
    /// Handles, and names of tokens.
    let entropy: SealedEntropy
    /// The version of its tables.
    let schemaVersion: Int
    /// What rested in it.
    let contents: StoreContents
  }

  /// Finds the key, or makes one for a vault that is not there yet; opens the vault and reads it.
  ///
  /// - Throws: ``StartFailure`` that says what to do; nothing was changed then.
  static func open(_ paths: StatePaths) async throws(StartFailure) -> Opened {
    do throws(SealingError) {
      try Sealing.initialize()
    } catch {
      throw StartFailure(kind: .failed, message: "libsodium does not work here: \(error).")
    }
    let vault: Vault
    do throws(VaultError) {
      let settings = KeySourceSettings(keyFilePath: paths.vaultKey)
      vault = try await Vault.open(path: paths.vault, settings: settings, anchorPath: anchorPath(paths))
    } catch { throw failure(error, paths) }
    try await unlock(vault, paths)
    let contents: StoreContents
    do throws(StoreFailure) { contents = try await vault.load() } catch {
      throw failure(.damaged(part: "sessions"), paths)
    }
    let version = await vault.status.schemaVersion
    return Opened(vault: vault, entropy: vault.entropy, schemaVersion: version, contents: contents)
  }

  /// Beside the key file, where that lies in another directory than the vault.
  private static func anchorPath(_ paths: StatePaths) -> String? {
    guard let key = paths.vaultKey, PathName.directory(of: key) != PathName.directory(of: paths.vault) else {
      return nil
    }
    return PathName.directory(of: key) + "/vault.anchor"
  }

  private static func unlock(_ vault: Vault, _ paths: StatePaths) async throws(StartFailure) {
    do throws(KeyFailure) {
      try await vault.unlock(nil)
    } catch {
      let message: String
      switch error {
      case .sourceUnavailable(let reason), .passphraseUnsuitable(let reason): message = reason
      case .wrongPassphrase, .passphraseMissing: message = "The vault opens by a passphrase only."
      case .store(.failed(let context)): throw StartFailure(kind: .storeFailed, message: "\(paths.vault): \(context)")
      case .store: throw failure(.damaged(part: "seal"), paths)
      }
      throw StartFailure(kind: .keySourceUnavailable, message: message)
    }
  }

  private static func failure(_ error: VaultError, _ paths: StatePaths) -> StartFailure {
    let kind: StartFailure.Kind
    switch error {
    case .damaged, .newerSchema: kind = .vaultTampered
    default: kind = .storeFailed
    }
    return StartFailure(kind: kind, message: "\(paths.vault): \(error.description)")
  }
}
