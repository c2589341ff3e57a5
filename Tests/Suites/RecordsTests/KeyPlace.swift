import BrokerProtocol
import LinuxSystem
import Records
import Sealing
import SecretMemory
import TestSupport

/// A directory with key files and credentials in it, and one vault's identifier.
final class KeyPlace: Sendable {
  let scratch = Scratch()
  let vaultID = [UInt8](1...16)
  var path: String { scratch.file("vault.key") }
  var file: KeyFile { KeyFile(path: path) }

  init() throws { try Sealing.initialize() }

  func settings(command: [String] = [], timeout: Duration = Patience.ceiling) -> KeySourceSettings {
    KeySourceSettings(
      keyFilePath: path, credentialsDirectory: scratch.path, credentialName: "secret", command: command,
      commandTimeout: timeout)
  }

  /// With the least work that is accepted.
  func encryption(command: [String] = []) -> KeyEncryption {
    KeyEncryption(settings(command: command), passphraseCost: .retrievedSecret)
  }

  func write(_ key: SealingKey, to name: String) throws {
    try scratch.write(key.secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }, to: name)
  }

  /// What each of the two files holds.
  func keys() throws -> (present: SealingKey.ID?, next: SealingKey.ID?) {
    (try file.readIfPresent()?.id, try file.readNext()?.id)
  }
}

/// `#expect` takes calls apart, and a typed error is compared more easily as a value.
func keySourceError(_ body: () throws -> Void) -> KeySourceError? {
  do { try body() } catch let error as KeySourceError { return error } catch {}
  return nil
}

func keyRingError(_ body: () throws -> Void) -> KeyRingError? {
  do { try body() } catch let error as KeyRingError { return error } catch {}
  return nil
}
