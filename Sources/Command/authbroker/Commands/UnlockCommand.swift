import AuthBrokerClient
import BrokerProtocol
import SecretMemory

/// `authbroker unlock`.
enum UnlockCommand: Command {
  static let name = "unlock"
  static let about = CommandDescription(
    summary: "Open the vault, with its passphrase where it has one",
    details: """
      Asks for the passphrase without echo, for that of a new vault twice. A vault whose key comes from another source
      needs none. Ends with 4 for a wrong passphrase, with 7 if the key is not available or the vault is damaged.
      """,
    options: PassphraseSource.options,
    examples: ["authbroker unlock", "pass show vault | authbroker unlock --password-stdin"])

  /// Finds out the vault's key source, and opens the vault.
  static func run(_ context: Context) throws(CommandFailure) {
    var connection = try context.connect()
    let vault = try context.call(GetStatus.self, Empty(), on: &connection).vault
    guard vault.locked else { return context.finish("the vault is open already") }
    guard vault.keySource == KeySourceName.passphrase.rawValue else {
      _ = try context.call(
        Unlock.self, .init(), on: &connection, within: PassphraseSource.patience)
      return context.finish("the vault is open")
    }
    guard vault.isInitialized else {
      let passphrase = try PassphraseSource.new(context)
      _ = try context.call(
        Unlock.self, .init(passphrase: passphrase), on: &connection, within: PassphraseSource.patience)
      return context.finish("the vault is new and open; without this passphrase it can never be opened again")
    }
    try open(&connection, context)
    context.finish("the vault is open")
  }

  /// Asks until the passphrase is right, a few times; one that was not typed is tried once.
  private static func open(_ connection: inout BlockingConnection, _ context: Context) throws(CommandFailure) {
    var left = PassphraseSource.asks(context) ? PassphraseSource.attempts : 1
    while true {
      let passphrase = try PassphraseSource.present(context)
      left -= 1
      do throws(CommandFailure) {
        _ = try context.call(
          Unlock.self, .init(passphrase: passphrase), on: &connection, within: PassphraseSource.patience)
        return
      } catch {
        guard error.error?.kind == .wrongPassphrase, left > 0 else { throw error }
        context.tell(error.message)
      }
    }
  }
}
