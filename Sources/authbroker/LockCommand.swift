import AuthBrokerClient
import BrokerProtocol
import ClientSocket

/// `authbroker lock`.
enum LockCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "lock",
    summary: "Let the broker forget its keys and tokens until unlock",
    details: """
      Sessions are kept, sealed on disk. Until `authbroker unlock`, whoever asks for a token gets exit code 7. Where the
      key comes from a passphrase, nobody can open the vault without it; from any other source, the next broker that is
      started opens it by itself. Where no broker runs, no key is in memory and nothing has to be done.
      """)

  /// Locks the vault and says for how long that holds.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    guard var connection = try context.connectToRunning() else {
      return finish(context, Message("no broker is running, so no key is in memory"))
    }
    let vault = try context.call(GetStatus.self, Empty(), on: &connection).vault
    _ = try context.call(Lock.self, Empty(), on: &connection)
    finish(context, message(vault))
  }

  private static func finish(_ context: Context, _ message: Message) {
    if context.wantsJSON { context.printJSON(Empty()) } else { context.tell(message) }
  }

  private static func message(_ vault: GetStatus.VaultStatus) -> Message {
    guard vault.isInitialized else {
      return Message("the vault is new and holds nothing yet", next: NextCommand("make its key with", "unlock"))
    }
    guard vault.keySource != KeySourceName.passphrase.rawValue else {
      return Message("the vault is locked", next: NextCommand("unlock it with its passphrase", "unlock"))
    }
    let source = PlainText.line(vault.keySource.utf8)
    return Message(
      "the vault is locked while this broker runs; the next one takes the key (\(source)) by itself",
      next: NextCommand("unlock it with", "unlock"))
  }
}
