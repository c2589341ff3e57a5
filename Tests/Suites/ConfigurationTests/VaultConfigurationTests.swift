import BrokerProtocol
import Configuration
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct VaultConfigurationTests {
  private func parse(_ vault: String) throws(ConfigurationError) -> VaultConfiguration {
    let environment = ["HOME": "/home/ann", "ENTRY": "auth/broker", "NOTHING": ""]
    let text = "{\nvault: {\n\(vault)\n}\n}"
    return try BrokerConfiguration.parse(Array(text.utf8), file: "config.json", environment: environment).vault
  }

  @Test func `without a word the key is in the usual file`() throws {
    let vault = try parse("")
    #expect(vault.keySource == .file && vault.keyFile == nil)
    #expect(vault.credential == "authbroker-vault-key")
    #expect(vault.command.isEmpty && vault.commandTimeout == .seconds(30))
    #expect(vault == BrokerConfiguration.standard.vault)
  }

  @Test(arguments: ["file", "passphrase", "credential"]) func `each source can be chosen`(_ name: String) throws {
    #expect(try parse("keySource: '\(name)'").keySource.rawValue == name)
  }

  @Test func `everything that is said is taken`() throws {
    let vault = try parse(
      """
      keySource: "command", keyFile: "${HOME}/keys/vault.key", credential: "broker.key",
      command: ["pass", "show", "${ENTRY}", "${NOTHING}"], commandTimeoutSeconds: 1.5,
      """)
    #expect(vault.keySource == .command)
    #expect(vault.keyFile == "/home/ann/keys/vault.key")
    #expect(vault.credential == "broker.key")
    #expect(vault.command == ["pass", "show", "auth/broker", ""])
    #expect(vault.commandTimeout == .milliseconds(1500))
    #expect(try parse("command: ['/usr/bin/pass']").command == ["/usr/bin/pass"])
  }

  @Test func `a source without its command is an error with its place`() {
    let error = #expect(throws: ConfigurationError.self) { try parse("keySource: 'command'") }
    #expect(error?.key == "vault.command" && error?.line == 2)
    #expect(
      error?.description
        == #"config.json:2: vault.command must be given with keySource "command": a program and its arguments"#)
  }

  @Test(arguments: ["", "vault.key", "./vault.key", "~/vault.key", "/keys/", "/", "/a\\u0000b", "x${HOME}/vault.key"])
  func `a key file is named by its absolute path`(_ path: String) {
    let error = #expect(throws: ConfigurationError.self) { try parse("\nkeyFile: '\(path)'") }
    #expect(
      error?.description
        == #"config.json:4: vault.keyFile must be the absolute path of a file, such as "${HOME}/keys/vault.key""#)
  }

  @Test(arguments: ["", ".", "..", ".key", "a/b", "/key", "a\\u0000b", String(repeating: "k", count: 256)])
  func `a credential has a plain name`(_ name: String) {
    let error = #expect(throws: ConfigurationError.self) { try parse("credential: '\(name)'") }
    #expect(
      error?.description
        == "config.json:3: vault.credential must be the name of a credential: "
        + "no '/', no '.' in front, at most 255 bytes")
  }

  @Test func `the longest name of a credential is taken`() throws {
    let name = String(repeating: "k", count: 255)
    #expect(try parse("credential: '\(name)'").credential == name)
  }

  @Test(arguments: ["[]", "['']", "['./pass']", "['bin/pass']", "['pass', 'a\\u0000b']", "['${NOTHING}']"])
  func `a command begins with a program`(_ command: String) {
    let error = #expect(throws: ConfigurationError.self) { try parse("command: \(command)") }
    #expect(
      error?.description == "config.json:3: vault.command must begin with a program: its name, or its absolute path")
  }

  @Test(arguments: ["'pass show x'", "1", "null", "{}", "[1]", "['pass', null]", "['pass', ['x']]"])
  func `a command is a list of texts`(_ command: String) {
    let error = #expect(throws: ConfigurationError.self) { try parse("command: \(command)") }
    #expect(error?.description == "config.json:3: vault.command must be a list of texts in quotes")
  }

  @Test func `an element of a command that names a missing variable is found`() {
    let error = #expect(throws: ConfigurationError.self) { try parse("command: ['pass',\n'${GONE}']") }
    #expect(
      error?.description == "config.json:4: vault.command names the environment variable GONE, which is not set")
  }

  @Test(arguments: ["0.5", "601", "'30'"]) func `a time limit has bounds`(_ seconds: String) {
    let error = #expect(throws: ConfigurationError.self) { try parse("commandTimeoutSeconds: \(seconds)") }
    #expect(error?.message == "vault.commandTimeoutSeconds must be a number of seconds from 1 to 600")
  }
}
