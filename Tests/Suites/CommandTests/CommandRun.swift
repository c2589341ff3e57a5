import LinuxSystem
import TestSupport

/// One run of the command that was built, to its end.
struct CommandRun {
  /// The exit code.
  let code: Int32
  /// Standard output; of a run in a terminal, all that was to be seen.
  let output: String
  /// Standard error.
  let errors: String

  /// The command, beside the tests.
  static let program: String = {
    let own = ProcessIdentity.executable.map { PathName.directory(of: $0) } ?? ""
    let candidates = [own, Repository.root + "/.build/debug"]
    return (candidates.first { (try? FileStatus.following($0 + "/authbroker")) != nil } ?? own) + "/authbroker"
  }()

  /// Standard output with one blank where there are several.
  var words: String {
    output.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      (line.hasPrefix(" ") ? " " : "") + line.split(separator: " ").joined(separator: " ")
    }.joined(separator: "\n")
  }

  /// What a question in a terminal is, and what a person types then.
  typealias Step = TerminalPlayer.Step

  /// Runs the command on the directory `state` of a scratch directory.
  init(
    _ words: [String], in scratch: Scratch, input: String = "", environment: [String: String] = [:]
  ) throws {
    try self.init(Self.program, ["--state", scratch.file("state")] + words, scratch, input, environment)
  }

  /// Runs it in a terminal of its own, where a person follows the steps; without `columns` its width is not known.
  init(
    atTerminal steps: [Step], _ words: [String], in scratch: Scratch, environment: [String: String] = [:],
    columns: Int? = nil
  ) throws {
    let resized = columns.map { ["/bin/sh", "-c", "stty cols \($0) && exec \"$@\"", "sh"] } ?? []
    let command = resized + [Self.program, "--state", scratch.file("state")] + words
    let arguments = TerminalPlayer.arguments(steps, command)
    try self.init("/usr/bin/env", arguments, scratch, "", environment)
  }

  /// Runs a line of a shell in a terminal of its own: `$0` is the command, `$1` the state directory, `$2` the file `pid`.
  init(shell line: String, atTerminal steps: [Step], in scratch: Scratch) throws {
    let command = ["/bin/sh", "-c", line, Self.program, scratch.file("state"), scratch.file("pid")]
    // To Swift's own handler, which the released program has not, Ctrl-\ is a crash.
    let environment = ["SWIFT_BACKTRACE": "enable=no"]
    try self.init("/usr/bin/env", TerminalPlayer.arguments(steps, command), scratch, "", environment)
  }

  /// Runs it with exactly these entries as its environment: also two with one name, which no shell can make.
  init(_ words: [String], in scratch: Scratch, entries: [String]) throws {
    let execute = """
      import ctypes, os, sys
      end = sys.argv.index("--")
      array = lambda words: (ctypes.c_char_p * (len(words) + 1))(*map(os.fsencode, words), None)
      ctypes.CDLL(None).execve(os.fsencode(sys.argv[end + 1]), array(sys.argv[end + 1:]), array(sys.argv[1:end]))
      sys.exit("execve failed")
      """
    let arguments = ["python3", "-c", execute] + entries + ["--", Self.program, "--state", scratch.file("state")]
    try self.init("/usr/bin/env", arguments + words, scratch, "", [:])
  }

  private init(
    _ path: String, _ arguments: [String], _ scratch: Scratch, _ input: String, _ extra: [String: String]
  ) throws {
    try scratch.write(input, to: "stdin")
    var environment = [
      "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": scratch.file("home"), "TERM": "xterm", "TZ": "UTC0",
      "AUTHBROKER_DAEMON": scratch.file("daemon"),
    ]
    // What a sanitizer was told holds for the command, too.
    for name in Patience.sanitizerOptions { environment[name] = Environment.current[name] }
    var plan = ChildProcess.Plan(
      path: path, arguments: arguments, environment: environment.merging(extra) { $1 })
    let source = try FileDescriptor.open(scratch.file("stdin"), .read)
    let output = try FileDescriptor.open(scratch.file("stdout"), [.write, .create, .truncate])
    let errors = try FileDescriptor.open(scratch.file("stderr"), [.write, .create, .truncate])
    plan.descriptors = [(source.number, 0), (output.number, 1), (errors.number, 2)]
    plan.newSession = true
    code = try ChildProcess(plan).wait()
    self.output = String(decoding: try scratch.bytes(of: "stdout"), as: UTF8.self)
    self.errors = String(decoding: try scratch.bytes(of: "stderr"), as: UTF8.self)
  }
}
