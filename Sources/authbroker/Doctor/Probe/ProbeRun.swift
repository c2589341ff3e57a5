import LinuxSystem
import SecretMemory
import StateDirectory

/// A run of a tool against the probe, to its end.
struct ProbeRun {
  /// Some tools start an interpreter, or look for something first.
  private static let limit = Duration.seconds(30)
  /// What of a tool's words is kept: the end, where the reason stands.
  private static let longest = 1 << 16

  /// The exit code, or 128 and the number of the signal that ended it; nil where it was ended because it took too long.
  let code: Int32?
  /// What it said on both outputs, at the end; it may hold the token.
  private(set) var said: [UInt8] = []
  /// Whether the probe got the token.
  let sawToken: Bool
  /// Whether it connected by TLS.
  let sawTLS: Bool

  /// Runs a tool in a session of its own: it can ask at no terminal.
  ///
  /// - Parameters:
  ///   - plan: the program, what follows its name, its environment and where it starts.
  ///   - input: all of its standard input, which fits into a pipe.
  ///   - server: whom it talks to.
  /// - Throws: what a system call says, where the tool cannot be run.
  init(_ plan: ChildProcess.Plan, input: [UInt8], _ server: inout ProbeServer) throws(Errno) {
    let (read, write) = try FileDescriptor.pipe(nonBlocking: true).ends { ($0.release(), $1.release()) }
    let output = FileDescriptor(owning: read)
    let printing = FileDescriptor(owning: write)
    let (given, giving) = try FileDescriptor.pipe().ends { ($0.release(), $1.release()) }
    let questions = FileDescriptor(owning: given)
    let asking = FileDescriptor(owning: giving)
    // Before it starts: the pipe has room, and its reader is there.
    try asking.writeAll(input.span)
    asking.close()
    var plan = plan
    plan.descriptors = [(questions.number, 0), (printing.number, 1), (printing.number, 2)]
    plan.newSession = true
    let child = try ChildProcess(plan)
    questions.close()
    printing.close()
    let isEnded = try Self.wait(for: child, output, &server, &said)
    // What it left running ends with it.
    child.killGroup()
    let code = try child.wait()
    self.code = isEnded ? code : nil
    sawToken = server.sawToken
    sawTLS = server.sawTLS
  }

  /// Serves the probe and reads what the tool says until it has ended.
  ///
  /// - Returns: false where the time is over before.
  private static func wait(
    for child: ChildProcess, _ output: borrowing FileDescriptor, _ server: inout ProbeServer, _ said: inout [UInt8]
  ) throws(Errno) -> Bool {
    let deadline = BootClock.now + limit
    let end = try child.endDescriptor()
    var isOpen = true
    while true {
      let left = deadline - BootClock.now
      guard left > .zero else { return false }
      let numbers = server.numbers
      var poll = PollSet(count: 2 + numbers.count)
      poll.watch(0, end.number, readable: true)
      if isOpen { poll.watch(1, output.number, readable: true) }
      for (index, number) in numbers.enumerated() { poll.watch(2 + index, number, readable: true) }
      _ = try poll.wait(atMost: left)
      for (index, number) in numbers.enumerated() where poll.isReady(2 + index) { server.serve(number) }
      if poll.isReady(1) { isOpen = keep(output, &said) }
      // What it printed before its end is here already.
      if poll.isReady(0), !poll.isReady(1) { return true }
    }
  }

  /// - Returns: false at the end of the stream.
  private static func keep(_ output: borrowing FileDescriptor, _ said: inout [UInt8]) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 4096)
    defer { wipe(&chunk) }
    switch output.read(into: &chunk) {
    case .bytes(let count):
      said += chunk[..<count]
      if said.count > longest { said.removeFirst(said.count - longest) }
      return true
    case .wouldBlock: return true
    case .endOfStream, .failed: return false
    }
  }

  /// The last line that it said, for a person; a line that holds the token is not shown.
  func lastWords(_ search: TokenSearch) -> String {
    let lines = said.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
      .filter { line in line.contains { $0 > UInt8(ascii: " ") } }
    guard let line = lines.last else { return "" }
    guard !search.finds(in: Array(line)) else { return "(a line with the token, which is not shown)" }
    return PlainText.line(line.prefix(300))
  }

  /// Wipes what it said.
  mutating func forget() { wipe(&said) }
}
