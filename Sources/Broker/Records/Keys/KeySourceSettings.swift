import LinuxSystem

/// The settings of all key sources; none is read before a key is asked for.
package struct KeySourceSettings: Sendable {
  /// The absolute path of the key file; nil where nothing says where it would be.
  package var keyFilePath: String?
  /// The service manager's directory of credentials (`$CREDENTIALS_DIRECTORY`); nil for a process without one.
  package var credentialsDirectory: String?
  /// The name of the credential that holds the secret.
  package var credentialName: String
  /// The program and its arguments; empty where none is configured.
  package var command: [String]
  /// How long the program may take.
  package var commandTimeout: Duration
  /// The program's environment, part of which the command that prints the secret gets.
  package var environment: [String: String]
  /// The most bytes of the secret.
  package var byteLimit = RetrievedSecret.byteLimit

  /// The credential's name where none is configured.
  package static let standardCredentialName = "authbroker-vault-key"

  /// The default time limit of the program: enough for a person to answer the question that it asks.
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
