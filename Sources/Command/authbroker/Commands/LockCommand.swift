import AuthBrokerClient
import BrokerProtocol
import StateDirectory

/// `authbroker lock`.
enum LockCommand: Command {
  static let name = "lock"
  static let about = CommandDescription(
    summary: "Lock the vault: wipe keys and tokens from memory",
    details: """
      Sessions are kept, encrypted on disk. Until `authbroker unlock`, commands that need a token end with exit code 7.
      Where the key comes from a passphrase, the vault cannot be opened without it; from any other source, the next
      broker that is started opens it by itself. Where no broker runs, no key is in memory and there is nothing to do.
      """,
    examples: ["authbroker lock"])

  /// Locks the vault and says for how long that holds.
  static func run(_ context: Context) throws(CommandFailure) {
    guard var connection = try context.connectToRunning() else {
      return finish(context, Message("no broker is running, so no key is in memory"))
    }
    // First, so that who may not lock it is told so, and not that the status is refused.
    _ = try context.call(Lock.self, Empty(), on: &connection)
    finish(context, message(try context.call(GetStatus.self, Empty(), on: &connection).vault))
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
      "the vault is locked while this broker runs; the next one takes the key (\(source)) automatically",
      next: NextCommand("unlock it with", "unlock"))
  }
}
