import BrokerProtocol
import LinuxSystem
import SecretMemory

/// `authbroker door run`.
enum DoorRunCommand: Command {
  static let name = "door run"
  static let about = CommandDescription(
    operands: "[ORIGIN] -- PROGRAM [ARGUMENT...]", operandCount: nil,
    summary: "Run a program with a door of its own",
    details: """
      Opens a door on a port of 127.0.0.1, runs the program with its address in AUTHBROKER_DOOR_URL and the placeholder in
      AUTHBROKER_DOOR_TOKEN, and closes the door when the program ends. The exit code is the program's.

      ORIGIN is a server such as https://api.example.com; it may be left out where the rules of the profile name one alone.
      The path of an API's base address is the program's own business: --url-env OPENAI_BASE_URL=/v1 adds it.
      """,
    options: [
      DoorDraft.address, DoorDraft.token, .value("--port", "NUMBER", "the port; any that is free where absent"),
    ]
      + DoorDraft.options,
    endsOptionsAtOperand: false,
    examples: [
      "authbroker door run -p shop https://api.example.com -- ./agent",
      "authbroker door run --url-env BASE_URL=/v1 --token-env API_KEY -- ./agent",
    ])

  /// Opens the door, and runs the program until it ends.
  static func run(_ context: Context) throws(CommandFailure) {
    var words = context.arguments.operands[...]
    let origin = words.first.flatMap { $0.hasPrefix("https://") || $0.hasPrefix("http://") ? $0 : nil }
    if origin != nil { words.removeFirst() }
    guard let name = words.popFirst() else {
      throw .usage("missing argument PROGRAM; usage: \(description.usage)")
    }
    // Before the broker is asked: what cannot run needs no door.
    let program = try NamedProgram(name, context.environment.all)
    let params = try DoorDraft.params(context, origin, port: 0)
    var connection = try context.connect()
    let door = try context.call(OpenDoor.self, params, on: &connection)
    var variables = context.environment.all
    variables["AUTHBROKER_DOOR_URL"] = door.url
    for word in context.arguments.all(DoorDraft.address.name) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      variables[String(parts[0])] = door.url + (parts.count > 1 ? parts[1] : "")
    }
    // A placeholder is no secret to its program, and is worth nothing elsewhere.
    let placeholder = door.placeholder.withBytes { bytes in
      String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
    for variable in ["AUTHBROKER_DOOR_TOKEN"] + context.arguments.all(DoorDraft.token.name) {
      variables[variable] = placeholder
    }
    let code = try wait(for: program, Array(words), variables)
    _ = try? context.call(CloseDoor.self, .init(doorID: door.doorID), on: &connection)
    ProcessImage.end(code)
  }

  /// Runs a program at this one's terminal; a signal that would end this one goes to the program, whose end is awaited.
  private static func wait(
    for program: NamedProgram, _ words: [String], _ variables: [String: String]
  ) throws(CommandFailure) -> Int32 {
    let held = try HeldSignals()
    do throws(Errno) {
      var plan = ChildProcess.Plan(path: program.path, arguments: words, environment: variables)
      plan.descriptors = [(0, 0), (1, 1), (2, 2)]
      let child = try ChildProcess(plan)
      let exit = try child.endDescriptor()
      var poll = PollSet(count: 2)
      poll.watch(0, exit.number, readable: true)
      poll.watch(1, held.pending.descriptor.number, readable: true)
      while !poll.isReady(0) {
        _ = try poll.wait()
        // Ctrl-C has reached the program as well, which is in the same group.
        if let signal = held.next(), signal != .interrupt { try? signal.send(to: child.pid) }
      }
      return try child.wait()
    } catch {
      throw CommandFailure(.programNotExecutable, "\(program.name.shellQuoted) cannot be run: \(error)")
    }
  }
}
