import AuthBrokerClient
import BrokerProtocol
import LinuxSystem
import SecretMemory

/// `authbroker sandbox`.
enum SandboxCommand: Command {
  static let name = "sandbox"
  static let about = CommandDescription(
    operands: "[ORIGIN] -- PROGRAM [ARGUMENT...]", operandCount: nil,
    summary: "Run a program that uses an API without network, home or token",
    details: """
      Runs the program with bubblewrap, where there is nothing but the folders of the system, a /tmp and a home that are empty, the
      working directory, and two ways out: a door to one server, at AUTHBROKER_DOOR_URL (a port of its own 127.0.0.1) and at the
      Unix socket AUTHBROKER_DOOR_SOCKET, and a limited socket at AUTHBROKER_SOCKET, by which `authbroker request` works and no
      token is given. AUTHBROKER_DOOR_TOKEN has the placeholder. The exit code is the program's.

      ORIGIN is a server such as https://api.example.com; it may be left out where the rules of the profile name one alone.
      --url-env NAME=/v1 adds a path, and --url-env NAME=https://api.example.com/v1 opens a further door, by the only profile
      whose rules name that server, or by -p; --token-env NAME=https://api.example.com names its placeholder.

      The working directory can be written to, unless --ro says otherwise; what a program leaves there is what you run later. It
      must not be your home, or hold or lie in what keeps tokens.
      """,
    options: [
      .flag("--ro", "the working directory can only be read"),
      .value("--read", "PATH", "a further file or folder, to read alone; may be repeated", completion: .files),
      .value("--keep", "NAME", "a variable of yours that the program gets, too; may be repeated"),
      DoorDraft.address, DoorDraft.token,
    ] + DoorDraft.options,
    endsOptionsAtOperand: false,
    examples: [
      "authbroker sandbox --url-env BASE_URL=/v1 --token-env API_KEY -- ./agent",
      "authbroker sandbox --ro -p shop -- authbroker request /v1/orders",
    ])

  /// Opens the ways out, and runs the program until it ends.
  static func run(_ context: Context) throws(CommandFailure) {
    var words = context.arguments.operands[...]
    let origin = words.first.flatMap { SandboxDoors.isAddress($0) ? $0 : nil }
    if origin != nil { words.removeFirst() }
    guard !words.isEmpty else { throw .usage("missing argument PROGRAM; usage: \(description.usage)") }
    // Before the broker is asked: what cannot run needs no door.
    try checkStreams()
    let folders = try SandboxFolders(context)
    guard let bubblewrap = folders.program("bwrap", context.environment) else {
      throw CommandFailure(
        .failure,
        "bubblewrap is not installed (bwrap is on the PATH in no folder but the working directory); install the package bubblewrap"
      )
    }
    var connection = try context.connect()
    let doors = try SandboxDoors(
      context, origin, addresses: context.arguments.all(DoorDraft.address.name),
      tokens: context.arguments.all(DoorDraft.token.name),
      on: &connection)
    // Only for this: what may open a socket has the state directory, and what opens the doors is judged as any program is.
    var owner = context
    owner.isAdministrative = true
    var administration = try owner.connect()
    let limited = try owner.call(OpenSocket.self, doors.limitedSocket, on: &administration)
    let layout = SandboxLayout(context, folders, doors, limited.path)
    let code = try SandboxProcess(bubblewrap, layout, Array(words)).wait()
    // Both end with their connections; these ends are seen before the command's.
    for door in doors.list { _ = try? context.call(CloseDoor.self, .init(doorID: door.id), on: &connection) }
    _ = try? owner.call(CloseSocket.self, .init(socketID: limited.socketID), on: &administration)
    ProcessImage.end(code)
  }

  /// Refuses a standard stream that is open on a folder: what lies in and above it can be reached by that (openat(2)).
  private static func checkStreams() throws(CommandFailure) {
    for (number, name) in [(0, "input"), (1, "output"), (2, "error")]
    where (try? FileStatus.following("/proc/self/fd/\(number)"))?.kind == .directory {
      throw CommandFailure(
        .failure,
        "the standard \(name) is a folder, by which the program would leave the sandbox; give it a file, or /dev/null")
    }
  }
}
