import BrokerCore
import BrokerProtocol
import Configuration
import LinuxSystem
import Records
import SQLiteStore
import Sealing
import StateDirectory
import TextCoding

/// Opens the vault of a state directory, as far as it can be opened without a person.
enum VaultOpening {
  /// A vault, and what rested in it.
  struct Opened {
    /// The vault: the store, and the keeper of its keys.
    let vault: Vault
    /// The status of the store.
    let status: StoreStatus
    /// The contents of the store; nil while it waits for the passphrase of a person.
    let contents: StoreContents?
    /// Whether the vault is new where another one was before, and no event has reported it.
    let hasPredecessor: Bool
  }

  /// Opens the file, and unlocks it unless its key comes from a passphrase; a vault that is not there yet is made.
  ///
  /// - Parameters:
  ///   - paths: where the files are.
  ///   - configuration: where the key comes from.
  ///   - environment: what the process was started with: the service manager says there where credentials are.
  ///   - entropy: names tokens with the vault's key from then on.
  ///   - waiting: is told how long the program may take that prints the key, before it is run.
  /// - Returns: the vault, and what rested in it.
  /// - Throws: ``StartFailure`` that says what to do; nothing was changed then.
  static func open(
    _ paths: StatePaths, _ configuration: VaultConfiguration, _ environment: [String: String],
    _ entropy: SealedEntropy, waiting: (Duration) -> Void
  ) async throws(StartFailure) -> Opened {
    do throws(SealingError) {
      try Sealing.initialize()
    } catch {
      throw StartFailure(kind: .failed, message: error.description)
    }
    let vault: Vault
    do throws(VaultError) {
      vault = try await Vault.open(
        path: paths.vault, settings: settings(paths, configuration, environment), source: configuration.keySource,
        anchorPath: anchorPath(paths), entropy: entropy)
    } catch {
      throw failure(error, paths)
    }
    let (status, hasPredecessor) = (await vault.status, await vault.hasPredecessor)
    guard status.keySource != .passphrase else {
      return Opened(vault: vault, status: status, contents: nil, hasPredecessor: hasPredecessor)
    }
    // For a vault that is new the program is run twice: its answer is kept nowhere in between.
    if status.keySource == .command { waiting(configuration.commandTimeout * (status.isInitialized ? 1 : 2)) }
    do throws(StartFailure) {
      let contents = try await unlock(vault, paths)
      return Opened(vault: vault, status: await vault.status, contents: contents, hasPredecessor: hasPredecessor)
    } catch {
      try? await vault.close()
      throw error
    }
  }

  private static func settings(
    _ paths: StatePaths, _ configuration: VaultConfiguration, _ environment: [String: String]
  ) -> KeySourceSettings {
    KeySourceSettings(
      keyFilePath: configuration.keyFile ?? paths.vaultKey,
      credentialsDirectory: environment["CREDENTIALS_DIRECTORY"], credentialName: configuration.credential,
      command: configuration.command, commandTimeout: configuration.commandTimeout, environment: environment)
  }

  /// Beside the default key file: in another directory than the vault, named by the vault's path since several vaults may
  /// have their keys there; with a chosen state directory in that one, where it notices the loss or the replacement of the
  /// vault's own files.
  private static func anchorPath(_ paths: StatePaths) -> String {
    guard let key = paths.vaultKey, PathName.directory(of: key) != PathName.directory(of: paths.vault) else {
      return paths.state + "/vault.anchor"
    }
    let path = Array(paths.vault.utf8)
    let name = Base64.encode(KeyedHash.unkeyedDigest(of: path.span, count: 6).span, as: .url)
    return "\(PathName.directory(of: key))/vault-\(String(decoding: name, as: UTF8.self)).anchor"
  }

  private static func unlock(_ vault: Vault, _ paths: StatePaths) async throws(StartFailure) -> StoreContents {
    do throws(KeyFailure) {
      try await vault.unlock(nil)
    } catch {
      switch error {
      case .sourceUnavailable(let reason), .passphraseUnsuitable(let reason):
        throw StartFailure(kind: .keySourceUnavailable, message: reason)
      case .wrongPassphrase, .passphraseMissing:
        throw StartFailure(kind: .keySourceUnavailable, message: "the vault opens only with its passphrase")
      case .store(let error): throw failure(error, paths)
      }
    }
    do throws(StoreFailure) {
      return try await vault.load()
    } catch {
      throw failure(error, paths)
    }
  }

  private static func failure(_ error: StoreFailure, _ paths: StatePaths) -> StartFailure {
    guard case .failed(let context) = error else { return failure(VaultError.damaged(part: "seal"), paths) }
    return StartFailure(kind: .storeFailed, message: "\(paths.vault): \(context)")
  }

  private static func failure(_ error: VaultError, _ paths: StatePaths) -> StartFailure {
    let kind: StartFailure.Kind
    switch error {
    case .notOurs: return StartFailure(kind: .storeFailed, message: error.description)
    case .noThread(let code): return StartFailure(noThread: Errno(code: code))
    case .damaged, .newerSchema: kind = .vaultTampered
    default: kind = .storeFailed
    }
    return StartFailure(kind: kind, message: "\(paths.vault): \(error.description)")
  }
}
