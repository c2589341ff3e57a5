import LinuxSystem

/// Where each key source finds its secret; nothing is examined before a key is asked for.
package struct KeySourceSettings: Sendable {
  /// The absolute path of the key file; nil where nothing says where it would be.
  package var keyFilePath: String?
  /// Where the service manager puts credentials (`$CREDENTIALS_DIRECTORY`); nil for a process that it did not start so.
  package var credentialsDirectory: String?
  /// Which of the credentials it is.
  package var credentialName: String
  /// The program and its arguments; empty where none is configured.
  package var command: [String]
  /// How long the program may take.
  package var commandTimeout: Duration
  /// What the program's environment is chosen from.
  package var environment: [String: String]

  /// The credential's name where none is configured.
  package static let standardCredentialName = "authbroker-vault-key"

  /// Enough for a person to answer the question that the program asks; who waits longer is not there.
  package static let standardCommandTimeout = Duration.seconds(30)

  /// Settings with the defaults of what is not said.
  package init(
    keyFilePath: String?, credentialsDirectory: String? = nil, credentialName: String = standardCredentialName,
    command: [String] = [], commandTimeout: Duration = standardCommandTimeout,
    environment: [String: String] = Environment.current
  ) {
    self.keyFilePath = keyFilePath
    self.credentialsDirectory = credentialsDirectory
    self.credentialName = credentialName
    self.command = command
    self.commandTimeout = commandTimeout
    self.environment = environment
  }

  /// The key file.
  ///
  /// - Throws: `KeySourceError.noPlaceForKeyFile`.
  package func keyFile() throws(KeySourceError) -> KeyFile {
    guard let keyFilePath else { throw .noPlaceForKeyFile }
    return KeyFile(path: keyFilePath)
  }
}
