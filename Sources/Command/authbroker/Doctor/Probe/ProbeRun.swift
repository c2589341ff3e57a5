import LinuxSystem
import SecretMemory
import StateDirectory

/// A run of a tool against the probe, to its end.
struct ProbeRun {
  /// Some tools start an interpreter, or look for something first.
  private static let limit = Duration.seconds(30)
  /// What of a tool's words is kept: the end, where the reason stands.
  private static let longest = 1 << 16
  /// How much is read at once.
  private static let chunk = 4096

  /// The exit code, or 128 and the number of the signal that ended it; nil where it was ended because it took too long.
  let code: Int32?
  /// What it said on both outputs, at the end; it may hold the token.
  private(set) var said: [UInt8] = []
  /// Whether the probe got the token.
  let sawToken: Bool
  /// Whether it connected by TLS.
  let sawTLS: Bool

  /// Runs a tool to its end, or until the time is over.
  ///
  /// - Parameters:
  ///   - plan: the program, what follows its name, its environment and where it starts.
  ///   - input: all of its standard input.
  ///   - server: whom it talks to.
  /// - Throws: what a system call says, where the tool cannot be run.
  init(_ plan: ChildProcess.Plan, input: [UInt8], _ server: inout ProbeServer) throws(Errno) {
    // All at once: an array that grows leaves its bytes behind.
    said.reserveCapacity(Self.longest + Self.chunk)
    var process = try ToolProcess(plan, input: input.span, joinsErrors: true)
    let isEnded = try Self.wait(for: process, &server, &said)
    // What it left running ends with it.
    process.kill()
    let code = try process.code()
    self.code = isEnded ? code : nil
    sawToken = server.sawToken
    sawTLS = server.sawTLS
  }

  /// Serves the probe and reads what the tool says until it has ended.
  ///
  /// - Returns: false where the time is over before.
  private static func wait(
    for process: borrowing ToolProcess, _ server: inout ProbeServer, _ said: inout [UInt8]
  ) throws(Errno) -> Bool {
    let deadline = BootClock.now + limit
    var isOpen = true
    while true {
      let left = deadline - BootClock.now
      guard left > .zero else { return false }
      let numbers = server.numbers
      var poll = PollSet(count: 2 + numbers.count)
      poll.watch(0, process.end.number, readable: true)
      if isOpen { poll.watch(1, process.output.number, readable: true) }
      for (index, number) in numbers.enumerated() { poll.watch(2 + index, number, readable: true) }
      _ = try poll.wait(atMost: left)
      for (index, number) in numbers.enumerated() where poll.isReady(2 + index) { server.serve(number) }
      if poll.isReady(1) { isOpen = keep(process.output, &said) }
      // What it printed before its end is here already.
      if poll.isReady(0), !poll.isReady(1) { return true }
    }
  }

  /// - Returns: false at the end of the stream.
  private static func keep(_ output: borrowing FileDescriptor, _ said: inout [UInt8]) -> Bool {
    var chunk = [UInt8](repeating: 0, count: Self.chunk)
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
    guard !search.finds(in: line) else { return "(a line with the token, which is not shown)" }
    return PlainText.line(line.prefix(300))
  }

  /// Wipes what it said.
  mutating func forget() { wipe(&said) }
}
