import AuthBrokerClient
import BrokerProtocol
import SecretMemory

/// `authbroker door open`.
enum DoorOpenCommand: Command {
  static let name = "door open"
  static let about = CommandDescription(
    operands: "[ORIGIN]", operandCount: 0...1, summary: "Open a door, and keep it open while this runs",
    details: """
      Prints the address of the door and its placeholder, a line each, and stays: the door is closed when this program ends,
      with the time of --for, or by `authbroker door close`. Without --port it is a Unix socket (curl --unix-socket), at
      --path or where the broker makes one.

      ORIGIN is a server such as https://api.example.com; it may be left out where the rules of the profile name one alone.
      """,
    options: [
      .value("--port", "NUMBER", "a port of 127.0.0.1; 0 is any that is free"),
      .value("--path", "PATH", "the path of the socket, at which there is nothing yet", completion: .files),
    ] + DoorDraft.options,
    examples: [
      "authbroker door open -p shop --port 0",
      "authbroker door open https://api.github.com --placeholder ghp_",
    ])

  /// Opens the door, and waits until the broker ends the connection.
  static func run(_ context: Context) throws(CommandFailure) {
    let params = try DoorDraft.params(context, context.arguments.operands.first)
    var connection = try context.connect()
    let door = try context.call(OpenDoor.self, params, on: &connection)
    if context.wantsJSON {
      context.printJSON(door)
    } else {
      Output.line(door.url)
      Output.line(door.placeholder)
    }
    context.notice(Message("the door \(door.doorID) is open until this program ends"))
    do throws(ClientError) { while true { _ = try connection.nextEvent() } } catch {
      throw CommandFailure(.brokerUnreachable, "the broker has ended, and the door with it")
    }
  }
}
