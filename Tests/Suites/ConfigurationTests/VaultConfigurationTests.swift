import BrokerCore
import BrokerProtocol
import Configuration
import ConfigurationFile
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
    #expect(vault.autoLock == AutoLockRules())
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
      lockAfterIdleSeconds: 600, lockOnSuspend: true,
      """)
    #expect(vault.keySource == .command)
    #expect(vault.keyFile == "/home/ann/keys/vault.key")
    #expect(vault.credential == "broker.key")
    #expect(vault.command == ["pass", "show", "auth/broker", ""])
    #expect(vault.commandTimeout == .milliseconds(1500))
    #expect(vault.autoLock == AutoLockRules(idleTimeout: .seconds(600), locksOnSuspend: true))
    #expect(try parse("command: ['/usr/bin/pass']").command == ["/usr/bin/pass"])
  }

  @Test func `a choice that takes effect without a start is no other way to open the vault`() throws {
    let vault = try parse("keySource: 'passphrase', lockAfterIdleSeconds: 600")
    #expect(vault.opensAsDoes(try parse("keySource: 'passphrase', lockOnSuspend: true")))
    #expect(!vault.opensAsDoes(try parse("lockAfterIdleSeconds: 600")))
  }

  @Test func `a time without a use is a number of seconds`() {
    #expect(
      lines("lockAfterIdleSeconds: -1")
        == ["3:23: vault.lockAfterIdleSeconds: must be a number of seconds from 0 to 31536000, not -1"])
  }

  /// The lines of the mistakes of a section, without the name of the file.
  private func lines(_ vault: String) -> [String] {
    let error = #expect(throws: ConfigurationError.self) { try parse(vault) }
    return error?.mistakes.map(\.line) ?? []
  }

  @Test func `a source without its command is an error with its place`() {
    #expect(
      lines("keySource: 'command'")
        == [#"2:8: missing key "command" in vault; write command: ["PROGRAM", "ARGUMENT"]"#])
  }

  @Test(arguments: ["", "vault.key", "./vault.key", "~/vault.key", "/keys/", "/", "/a\\u0000b", "x${HOME}/vault.key"])
  func `a key file is named by its absolute path`(_ path: String) {
    let home = path.hasPrefix("~/") ? "; for your home directory write ${HOME}/" : ""
    let rule = #"must be the absolute path of a file, such as "${HOME}/keys/example.pem""#
    #expect(lines("\nkeyFile: '\(path)'") == ["4:10: vault.keyFile: \(rule)\(home)"])
  }

  @Test(arguments: ["", ".", "..", ".key", "a/b", "/key", "a\\u0000b", String(repeating: "k", count: 256)])
  func `a credential has a plain name`(_ name: String) {
    let rule = "must be the name of a credential: no '/', no '.' in front, at most 255 bytes"
    #expect(lines("credential: '\(name)'") == ["3:13: vault.credential: \(rule)"])
  }

  @Test func `the longest name of a credential is taken`() throws {
    let name = String(repeating: "k", count: 255)
    #expect(try parse("credential: '\(name)'").credential == name)
  }

  @Test(arguments: ["[]", "['']", "['./pass']", "['bin/pass']", "['pass', 'a\\u0000b']", "['${NOTHING}']"])
  func `a command begins with a program`(_ command: String) {
    #expect(
      lines("command: \(command)")
        == ["3:10: vault.command: must begin with a program: its name, or its absolute path"])
  }

  @Test(arguments: [
    ("'pass show x'", #"3:10: vault.command: must be a list of strings, not a string; write ["pass", "show", "x"]"#),
    ("1", "3:10: vault.command: must be a list of strings, not a number"),
    ("null", "3:10: vault.command: must be a list of strings, not null"),
    ("{}", "3:10: vault.command: must be a list of strings, not an object"),
    ("[1]", #"3:11: vault.command[0]: must be a string, not a number; write "1""#),
    ("['pass', null]", "3:19: vault.command[1]: must be a string, not null"),
    ("['pass', ['x']]", #"3:19: vault.command[1]: must be a string, not a list; write "x""#),
  ])
  func `a command is a list of strings`(_ command: String, _ line: String) {
    #expect(lines("command: \(command)") == [line])
  }

  @Test func `an element of a command that names a missing variable is found`() {
    #expect(
      lines("command: ['pass',\n'${GONE}']") == ["4:1: vault.command[1]: the environment variable GONE is not set"])
  }

  @Test(arguments: ["0.5", "601", "'30'"]) func `a time limit has bounds`(_ seconds: String) {
    let error = #expect(throws: ConfigurationError.self) { try parse("commandTimeoutSeconds: \(seconds)") }
    #expect(error?.mistakes.first?.message.hasPrefix("must be a number of seconds from 1 to 600") == true)
  }
}
