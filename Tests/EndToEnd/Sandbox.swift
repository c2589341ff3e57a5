import Glibc
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

/// A home of its own for one test, and the programs that run in it; all gone at the end.
final class Sandbox {
  /// Short, since the path of a socket is bounded.
  let root: String
  /// What programs get for an environment.
  var environment: [String: String]
  private var programs: [Program] = []
  private var count = 0

  /// The usual state directory.
  var state: String { root + "/state" }
  /// The usual socket of that.
  var socket: String { state + "/run/broker.sock" }
  /// The messages of the embedded provider.
  var outbox: String { state + "/local-provider/outbox" }

  private init() throws {
    var template = Array((Scratch.parent + "/ab-XXXXXX").utf8CString)
    let made = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap(mkdtemp).map { String(cString: $0) } }
    guard let made else { throw TestFailure("no temporary directory") }
    root = made
    environment = [
      "PATH": "\(BuiltPrograms.directory):/usr/local/bin:/usr/bin:/bin", "HOME": made + "/home", "LANG": "C",
      "XDG_RUNTIME_DIR": made + "/runtime", "XDG_STATE_HOME": made + "/home/state",
      "XDG_DATA_HOME": made + "/home/data", "XDG_CONFIG_HOME": made + "/home/config", "NO_COLOR": "1",
      "TMPDIR": made, "SWIFT_BACKTRACE": "enable=no",
    ]
    // What a sanitizer was told holds for the programs that are started, too; so does where all is built.
    let inherited = Environment.current
    for name in Patience.sanitizerOptions + ["BUILD"] { environment[name] = inherited[name] }
    for name in ["home", "runtime"] { mkdir(made + "/" + name, 0o700) }
  }

  /// Runs a test in a new sandbox, on a thread of its own, when there is room for it.
  static func run(in room: Room = .shared, _ body: @Sendable (Sandbox) throws -> Void) async throws {
    try await room.use {
      try await OwnThread.run {
        try ProcessHardening.ignoreWriteSignals()
        let sandbox = try Sandbox()
        defer { sandbox.dispose() }
        try body(sandbox)
      }
    }
  }

  // MARK: Programs

  /// Starts a program.
  func start(
    _ path: String, _ arguments: [String], input: Program.Input = .pipe, environment extra: [String: String] = [:],
    descriptors: [(here: Int32, there: Int32)] = []
  ) throws -> Program {
    var plan = ChildProcess.Plan(
      path: path, arguments: arguments, environment: environment.merging(extra) { $1 })
    plan.workingDirectory = root
    plan.descriptors = descriptors
    count += 1
    let program = try Program(plan, input: input, errors: "\(root)/errors-\(count)")
    programs.append(program)
    return program
  }

  /// What a program that ran to its end came to.
  struct Outcome {
    let code: Int32
    let output: String
    let errors: String
  }

  /// Runs a program to its end.
  func run(
    _ path: String, _ arguments: [String], input: String = "", environment extra: [String: String] = [:]
  ) throws -> Outcome {
    let program = try start(path, arguments, environment: extra)
    // One that does not read its input may have ended already.
    try? program.write(Array(input.utf8))
    program.closeInput()
    let output = try program.output.readToEnd()
    let code = try program.wait()
    return Outcome(code: code, output: String(decoding: output, as: UTF8.self), errors: program.errorText)
  }

  /// Runs the command on the usual state directory.
  func command(_ arguments: String..., input: String = "") throws -> Outcome {
    try run(BuiltPrograms.command, ["--state", state] + arguments, input: input)
  }

  /// Runs a daemon that is expected to refuse to start.
  func refusedDaemon(_ arguments: [String] = []) throws -> Outcome {
    try run(BuiltPrograms.daemon, ["--state", state] + arguments)
  }

  /// Starts an owner on standard input and output.
  func privateOwner(_ arguments: [String] = [], input: Program.Input = .pipe) throws -> Program {
    try start(BuiltPrograms.daemon, ["--state", state, "--stdio"] + arguments, input: input)
  }

  /// Starts an owner in the foreground and waits until it is ready.
  func owner(_ arguments: [String] = []) throws -> Program {
    let (reader, writer) = try FileDescriptor.pipe().ends { ($0.release(), $1.release()) }
    let word = ByteInlet(FileDescriptor(owning: reader))
    let end = FileDescriptor(owning: writer)
    let program = try start(
      BuiltPrograms.daemon, ["--state", state, "--ready-fd", "3"] + arguments, input: .nothing,
      descriptors: [(end.number, 3)])
    end.close()
    let said = String(decoding: try word.readToEnd(), as: UTF8.self)
    // Before that it may say how long the vault's key command may take.
    guard said.hasSuffix("ready\n") else { throw TestFailure("the owner said: \(said) \(program.errorText)") }
    return program
  }

  /// Writes a configuration; the arguments that choose it.
  func configure(_ text: String) throws -> [String] {
    try Directory.write(text, to: root + "/config.json")
    return ["--config", root + "/config.json"]
  }

  // MARK: End

  /// Kills a program and forgets it, with the descriptors that belong to it.
  func bury(_ program: Program) {
    program.kill()
    programs.removeAll { $0 === program }
  }

  /// Waits until nobody owns a state directory.
  func awaitNoOwner(of state: String) throws {
    _ = try FileLock(state + "/broker.lock", waitingAtMost: Patience.ceiling)
  }

  private func dispose() {
    for program in programs { program.kill() }
    for state in [state] + Directory.names(in: root).map({ root + "/" + $0 }) { endOwner(of: state) }
    endOwner(of: root + "/home/state/authbroker")
    endRest()
    var plan = ChildProcess.Plan(path: "/bin/rm", arguments: ["-rf", root], environment: [:])
    plan.workingDirectory = "/"
    _ = try? ChildProcess(plan).wait()
  }

  /// Ends what a client has started and what is not an owner yet: its command line says where it is to be one.
  ///
  /// One that is killed may still be making a directory, and one that starts in between is seen by the next look alone:
  /// so two looks in a row must find nothing.
  private func endRest() {
    var quietLooks = 0
    let isQuiet = Patience.wait {
      quietLooks = endProcessesNow() ? 0 : quietLooks + 1
      return quietLooks == 2
    }
    if !isQuiet { Issue.record("processes of the sandbox \(root) do not end") }
  }

  /// Kills every other process of this sandbox that is seen now; whether there was one, or one that cannot be told yet.
  private func endProcessesNow() -> Bool {
    let own = getpid()
    var isFound = false
    for pid in Directory.names(in: "/proc").compactMap(Int32.init) where pid != own {
      guard let words = try? Directory.bytes(of: "/proc/\(pid)/cmdline") else { continue }
      if words.isEmpty {
        // Within `execve` a process has a program and no words yet (a kernel's thread and a dead one have no program).
        let variables = try? Directory.bytes(of: "/proc/\(pid)/environ")
        if variables == [], access("/proc/\(pid)/exe", F_OK) == 0 { isFound = true }
      } else if String(decoding: words, as: UTF8.self).contains(root + "/") {
        try? Signal.kill.send(to: pid)
        isFound = true
      }
    }
    return isFound
  }

  /// Ends an owner that a client started: a process that has this sandbox on its command line.
  private func endOwner(of state: String) {
    guard let record = OwnerRecord(at: state + "/broker.lock"), record.pid > 1,
      let words = try? Directory.bytes(of: "/proc/\(record.pid)/cmdline"),
      String(decoding: words, as: UTF8.self).contains(root)
    else { return }
    try? Signal.kill.send(to: record.pid)
    try? awaitNoOwner(of: state)
  }
}

/// Lets few sandboxes be used at a time, so that no test waits for a processor for long.
actor Room {
  /// For tests that need a processor all the time.
  static let shared = Room(4)
  /// For the rows of the fault matrix, most of whose time goes by in waiting.
  static let forMatrix = Room(8)
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  private init(_ size: Int) { free = size }

  func use(_ body: @Sendable () async throws -> Void) async throws {
    if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    defer {
      if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
    try await body()
  }
}
