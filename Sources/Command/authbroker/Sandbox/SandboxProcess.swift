import LinuxSystem

/// Bubblewrap, and the program within.
struct SandboxProcess {
  /// The descriptor by which bubblewrap gets its arguments: in a list of processes no variable is seen.
  private static let argumentsNumber: Int32 = 3
  /// The first one by which it gets a file.
  private static let firstFile: Int32 = 5
  /// The descriptor by which it gets the filter of system calls.
  private static let filterNumber: Int32 = 7
  /// The signals that are passed on.
  private static let signals = HeldSignals.ending + [.quit, .windowChange]
  /// How many arguments bubblewrap takes, those by its descriptor included (`MAX_ARGS`).
  private static let mostArguments = 9000

  private let bubblewrap: String
  private let layout: SandboxLayout
  private let words: [String]

  /// A program that is to run in a sandbox.
  init(_ bubblewrap: String, _ layout: SandboxLayout, _ words: [String]) {
    (self.bubblewrap, self.layout, self.words) = (bubblewrap, layout, words)
  }

  /// Runs it at this program's standard streams; signals that would end this one go to it, and its end is awaited.
  ///
  /// - Returns: its exit code.
  /// - Throws: a failure where there is no sandbox.
  func wait() throws(CommandFailure) -> Int32 {
    let count = command.count + argumentList.count
    guard count <= Self.mostArguments else {
      throw CommandFailure(
        .failure,
        "the program has \(words.count - 1) arguments, and bubblewrap takes \(Self.mostArguments - count + words.count - 1) for it; "
          + "give it a list in a file, or at its standard input")
    }
    let held = try HeldSignals(Self.signals)
    do throws(Errno) { return try run(held) } catch {
      throw CommandFailure(.failure, "bubblewrap (\(bubblewrap)) cannot be run: \(error)")
    }
  }

  private func run(_ held: borrowing HeldSignals) throws(Errno) -> Int32 {
    let passwd = try memory(layout.files[0].text)
    let group = try memory(layout.files[1].text)
    guard let instructions = SandboxFilter.bytes else { throw .notImplemented }
    let filter = try MemoryFile(instructions.span)
    let arguments = try memory(argumentList.map { $0 + "\0" }.joined())
    let (word, told) = try FileDescriptor.pipe(nonBlocking: true).ends { ($0.release(), $1.release()) }
    let begun = FileDescriptor(owning: word)
    let teller = FileDescriptor(owning: told)
    // Its environment is seen by the programs in the sandbox, whose first process it is: there is none.
    var plan = ChildProcess.Plan(path: bubblewrap, arguments: command, environment: [:])
    plan.descriptors = [
      (0, 0), (1, 1), (2, 2), (arguments.descriptor.number, Self.argumentsNumber),
      (teller.number, SandboxBeginning.tellerNumber), (passwd.descriptor.number, Self.firstFile),
      (group.descriptor.number, Self.firstFile + 1), (filter.descriptor.number, Self.filterNumber),
    ]
    // A Ctrl-C reaches this program alone, which passes it on: with bubblewrap all would end at once.
    plan.newSession = true
    let child = try ChildProcess(plan)
    teller.close()
    return try wait(for: child, begun, held)
  }

  private func memory(_ text: String) throws(Errno) -> MemoryFile { try MemoryFile(Array(text.utf8).span) }

  private var command: [String] {
    ["--args", String(Self.argumentsNumber), "--", SandboxLayout.beginning] + beginning
  }

  private var argumentList: [String] {
    layout.arguments + ["--seccomp", String(Self.filterNumber)]
      + layout.files.enumerated().flatMap {
        ["--perms", "0644", "--ro-bind-data", String(Self.firstFile + Int32($0.offset)), $0.element.path]
      }
  }

  private var beginning: [String] { layout.lanes.map { $0.word } + ["--"] + words }

  private func wait(
    for child: ChildProcess, _ begun: borrowing FileDescriptor, _ held: borrowing HeldSignals
  ) throws(Errno) -> Int32 {
    let exit = try child.endDescriptor()
    var poll = PollSet(count: 2)
    poll.watch(0, exit.number, readable: true)
    poll.watch(1, held.pending.descriptor.number, readable: true)
    while !poll.isReady(0) {
      _ = try poll.wait()
      while let signal = held.next() { Self.pass(signal, to: child) }
    }
    let code = try child.wait()
    var byte: [UInt8] = [0]
    if case .bytes = begun.read(into: &byte) { return code }
    Output.message(
      "there is no sandbox: bubblewrap ended with code \(code) before the program was started, for the reason above; it must be "
        + "0.5 or later, and needs user namespaces (sysctl user.max_user_namespaces; kernel.unprivileged_userns_clone; an AppArmor "
        + "profile for bwrap on Ubuntu) and leave to mount a /proc, which most containers have not")
    return ExitCode.failure.rawValue
  }

  /// Passes a signal on to the program: what a terminal sends to its group, and others to it alone.
  private static func pass(_ signal: Signal, to child: ChildProcess) {
    // Bubblewrap, the first process of the sandbox, and the program, which leads a group.
    let tree = child.tree
    guard tree.count > 2 else {
      if signal != .windowChange { try? Signal.terminate.send(to: child.pid) }
      return
    }
    guard [.interrupt, .quit, .windowChange].contains(signal) else {
      try? tree[2].send(signal)
      return
    }
    do throws(Errno) { try signal.send(toGroup: tree[2].pid) } catch { try? tree[2].send(signal) }
  }
}
