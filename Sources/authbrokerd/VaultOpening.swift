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
    let key = try key(paths)
    do throws(VaultError) {
      let (vault, entropy) = try await Vault.open(path: paths.vault, key: key)
      let version = try await vault.schemaVersion
      return Opened(
        vault: vault, entropy: entropy, schemaVersion: Int(version), contents: try await load(vault, paths))
    } catch {
      throw failure(error, paths)
    }
  }

  private static func key(_ paths: StatePaths) throws(StartFailure) -> SealingKey {
    guard let path = paths.vaultKey else {
      throw StartFailure(
        kind: .keySourceUnavailable,
        message: "HOME is not set, so there is no place for the vault's key; name a state directory with --state.")
    }
    do throws(SealingError) {
      try Sealing.initialize()
    } catch {
      throw StartFailure(kind: .failed, message: "libsodium does not work here: \(error).")
    }
    do throws(KeySourceError) {
      return try KeyFile(path: path).key(forVaultAt: paths.vault)
    } catch {
      throw StartFailure(kind: .keySourceUnavailable, message: error.description)
    }
  }

  private static func load(_ vault: Vault, _ paths: StatePaths) async throws(VaultError) -> StoreContents {
    do throws(StoreFailure) {
      return try await vault.load()
    } catch {
      throw .damaged(part: "sessions")
    }
  }

  private static func failure(_ error: VaultError, _ paths: StatePaths) -> StartFailure {
    let kind: StartFailure.Kind
    switch error {
    case .wrongKey: kind = .keySourceUnavailable
    case .damaged, .newerSchema: kind = .vaultTampered
    default: kind = .storeFailed
    }
    return StartFailure(kind: kind, message: "\(paths.vault): \(error.description)")
  }
}
