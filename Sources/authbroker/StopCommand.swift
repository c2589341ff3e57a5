import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import LinuxSystem

/// `authbroker stop`.
enum StopCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "stop",
    summary: "End the running broker in order",
    details: "Sessions are kept. Returns when the broker is gone; where none runs there is nothing to do.")

  /// How long a broker may take to end: it drains its connections and closes the vault.
  private static let longestEnd = Duration.seconds(30)

  /// Tells the broker to end and waits until it has.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    guard var connection = try context.connectToRunning() else { return finish(context, "no broker runs.") }
    let owner = connection.owner
    _ = try context.call(StopBroker.self, Empty(), on: &connection)
    do throws(ClientError) { try connection.awaitEnd(timeout: longestEnd) } catch {
      throw CommandFailure(.failure, "the broker was told to end and has not ended yet.")
    }
    if let owner { try awaitEnd(of: owner, try context.paths()) }
    finish(context, "the broker has ended.")
  }

  private static func finish(_ context: Context, _ sentence: String) {
    if context.wantsJSON { context.printJSON(Empty()) } else { Output.message(sentence) }
  }

  /// Waits until the process is gone or another owner has taken its place.
  private static func awaitEnd(of owner: OwnerRecord, _ paths: StatePaths) throws(CommandFailure) {
    let deadline = BootClock.now + longestEnd
    var pause = PollSet(count: 1)
    while OwnerRecord(at: paths.ownerLock) == owner, (try? FileStatus.following("/proc/\(owner.pid)")) != nil {
      guard BootClock.now < deadline else {
        throw CommandFailure(.failure, "the broker (pid \(owner.pid)) was told to end and has not ended yet.")
      }
      // Another process's end cannot be waited for.
      _ = try? pause.wait(atMost: .milliseconds(2))
    }
  }
}
