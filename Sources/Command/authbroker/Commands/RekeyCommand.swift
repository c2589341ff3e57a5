import AuthBrokerClient
import BrokerProtocol
import SecretMemory
import StateDirectory

/// `authbroker rekey`.
enum RekeyCommand: Command {
  static let name = "rekey"
  static let about = CommandDescription(
    summary: "Re-encrypt the vault under new keys, or under a key from another source",
    details: """
      Without --source the key comes from where the configuration says (vault.keySource). The current passphrase is
      asked for where there is one, and a new one, twice, where the key is to come from one. With --password-stdin both
      are lines of standard input, as far as they are needed: the current one first. All of it happens or nothing does;
      sessions are kept. The configuration is not changed: where --source is another one, name it there too.
      """,
    options: [
      .value("--source", "SOURCE", "the new key source: file, passphrase, credential or command"),
      .flag("--keep-passphrase", "new keys, but the same passphrase"),
    ] + PassphraseSource.options + [
      .value("--new-password-command", "CMD", "as --password-command, for the new passphrase")
    ],
    examples: ["authbroker rekey"])

  /// Asks for passphrases, lets the broker re-encrypt everything, and prints the change of key source.
  static func run(_ context: Context) throws(CommandFailure) {
    let wanted = try source(context)
    var connection = try context.connect()
    let vault = try context.call(GetStatus.self, Empty(), on: &connection).vault
    try expectOpen(vault)
    var request = try Request(context, from: KeySourceName(rawValue: vault.keySource), to: wanted)
    let configured = try configuredNow(context, connection.owner)
    if wanted == nil {
      // Where the configuration has been changed to what the vault says, the broker's own is out of date.
      if configured?.rawValue != vault.keySource, try differs(context, on: &connection) {
        try request.followConfiguration()
      } else if let configured, configured.rawValue != vault.keySource {
        throw CommandFailure(
          .failure,
          "the configuration names \(configured.rawValue) since this broker was started, which does not know it",
          next: NextCommand("rekey after", "stop"))
      }
    }
    try send(&request, context, on: &connection)
    guard !context.wantsJSON else { return context.printJSON(Empty()) }
    let after = try context.call(GetStatus.self, Empty(), on: &connection).vault
    Output.notice(sentence(vault, after, request.params))
    guard configured?.rawValue != after.keySource, try differs(context, on: &connection) else { return }
    Output.notice("the configuration still names another source; set vault.keySource to the new one")
  }

  /// The key source in the owner's configuration file, which the owner may not have read yet; nil where it is unknown.
  private static func configuredNow(
    _ context: Context, _ owner: OwnerRecord?
  ) throws(CommandFailure) -> KeySourceName? {
    guard let owner else { return nil }
    return ConfigurationVerdict(context, try context.paths(), usedBy: owner).keySource
  }

  private static func expectOpen(_ vault: GetStatus.VaultStatus) throws(CommandFailure) {
    guard vault.isInitialized else {
      throw CommandFailure(
        .vault, "the vault is new and has no key yet", next: NextCommand("make one with", "unlock"))
    }
    guard !vault.locked else { throw CommandFailure(.broker(BrokerError(.vaultLocked))) }
  }

  /// Sends the request; where only the broker knows that the configuration names a passphrase, asks for it then.
  private static func send(
    _ request: inout Request, _ context: Context, on connection: inout BlockingConnection
  ) throws(CommandFailure) {
    try request.askForPassphrases(context)
    do throws(CommandFailure) {
      _ = try context.call(
        Rekey.self, request.params, on: &connection, within: PassphraseSource.patience)
    } catch {
      guard request.followsConfiguration, request.present != .passphrase,
        ["/passphrase", "/newPassphrase"].contains(error.error?.pointer)
      else {
        throw error
      }
      request.params.newPassphrase = try PassphraseSource.new(context, command: "--new-password-command")
      _ = try context.call(
        Rekey.self, request.params, on: &connection, within: PassphraseSource.patience)
    }
  }

  /// The request to the broker, and the secrets to ask for before.
  private struct Request {
    let present: KeySourceName?
    let target: KeySourceName?
    let keepsPassphrase: Bool
    /// True if the broker is to choose the source, because its configuration names another one than the vault has.
    private(set) var followsConfiguration = false
    var params = Rekey.Params()

    /// - Throws: a usage failure where a passphrase is to be kept that there is not.
    init(_ context: Context, from present: KeySourceName?, to wanted: KeySourceName?) throws(CommandFailure) {
      self.present = present
      target = wanted ?? present
      keepsPassphrase = context.arguments.has("--keep-passphrase")
      guard !keepsPassphrase || (present == .passphrase && target == .passphrase) else {
        throw .usage("--keep-passphrase is for a vault whose key comes from a passphrase and stays so")
      }
    }

    /// - Throws: a usage failure where a passphrase is to be kept, since the configuration names none.
    mutating func followConfiguration() throws(CommandFailure) {
      guard !keepsPassphrase else {
        throw .usage("the configuration does not name a passphrase any more; give --source passphrase to keep it")
      }
      followsConfiguration = true
    }

    mutating func askForPassphrases(_ context: Context) throws(CommandFailure) {
      if present == .passphrase { params.passphrase = try PassphraseSource.present(context) }
      guard !followsConfiguration else { return }
      params.keySource = target
      guard target == .passphrase, !keepsPassphrase else { return }
      params.newPassphrase = try PassphraseSource.new(context, command: "--new-password-command")
    }
  }

  private static func source(_ context: Context) throws(CommandFailure) -> KeySourceName? {
    guard let text = context.arguments["--source"] else { return nil }
    guard let source = KeySourceName(rawValue: text) else {
      let all = KeySourceName.allCases.map { $0.rawValue }
      throw .unknown(
        "key source", text, likely: Spelling.nearest(to: text, among: all), choices: all.joined(separator: ", "))
    }
    return source
  }

  private static func sentence(
    _ before: GetStatus.VaultStatus, _ after: GetStatus.VaultStatus, _ params: Rekey.Params
  ) -> String {
    let (old, new) = (PlainText.line(before.keySource.utf8), PlainText.line(after.keySource.utf8))
    guard new == old else { return "vault re-encrypted; key source: \(new) (was \(old))" }
    guard new == KeySourceName.passphrase.rawValue else { return "vault re-encrypted with new keys (\(new))" }
    let passphrase = params.newPassphrase == nil ? "the same passphrase opens it" : "only the new passphrase opens it"
    return "vault re-encrypted with new keys; " + passphrase
  }

  /// Whether the vault opens by another source than the configuration names.
  private static func differs(
    _ context: Context, on connection: inout BlockingConnection
  ) throws(CommandFailure) -> Bool {
    let result = try context.call(CheckVault.self, .init(isFull: false), on: &connection)
    return result.findings.contains { $0.kind == VaultFinding.Kind.keySourceDiffers.rawValue }
  }
}
