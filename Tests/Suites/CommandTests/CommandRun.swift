import JSON
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
  private static let program: String = {
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
  struct Step {
    let question: String
    let answer: String
  }

  /// Plays a person at a terminal: waits for each question, types the answer, and shows the whole screen.
  private static let player = """
    import json, os, pty, select, sys, time
    PATIENCE = \(Patience.ceiling.components.seconds)
    steps, words = json.loads(sys.argv[1]), sys.argv[2:]
    pid, terminal = pty.fork()
    if pid == 0: os.execv(words[0], words)
    screen, seen, deadline = b"", 0, time.monotonic() + PATIENCE
    def more():
      global screen
      if not select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]: sys.exit("nothing came: %r" % screen)
      try: part = os.read(terminal, 4096)
      except OSError: part = b""
      screen += part
      return part
    for question, answer in steps:
      while question.encode() not in screen[seen:]:
        if not more(): break
      seen = len(screen)
      os.write(terminal, answer.encode())
    while more(): pass
    os.write(1, screen)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(code if code >= 0 else 128 - code)
    """

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
    var script = JSONWriter()
    script.array { writer in
      for step in steps {
        writer.array { writer in
          writer.string(step.question)
          writer.string(step.answer)
        }
      }
    }
    let resized = columns.map { ["/bin/sh", "-c", "stty cols \($0) && exec \"$@\"", "sh"] } ?? []
    let command = resized + [Self.program, "--state", scratch.file("state")] + words
    let arguments = ["python3", "-c", Self.player, String(decoding: script.bytes, as: UTF8.self)] + command
    try self.init("/usr/bin/env", arguments, scratch, "", environment)
  }

  private init(
    _ path: String, _ arguments: [String], _ scratch: Scratch, _ input: String, _ extra: [String: String]
  ) throws {
    try scratch.write(input, to: "stdin")
    let environment = [
      "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": scratch.file("home"), "TERM": "xterm", "TZ": "UTC0",
      "AUTHBROKER_DAEMON": scratch.file("daemon"),
    ]
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
