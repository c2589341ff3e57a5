import JSON

/// A person at a terminal, played by Python's `pty`: waits for each question, types the answer, and shows the whole screen.
package enum TerminalPlayer {
  /// What a question in a terminal is, and what a person types then.
  package struct Step: Sendable {
    /// What must stand on the screen first.
    package let question: String
    /// The keys, a line's end among them.
    package let answer: String

    /// A step.
    package init(question: String, answer: String) {
      self.question = question
      self.answer = answer
    }
  }

  private static let script = """
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
      seen = max(seen, screen.find(question.encode(), seen) + len(question.encode()))
      os.write(terminal, answer.encode())
    while more(): pass
    os.write(1, screen)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(code if code >= 0 else 128 - code)
    """

  /// The arguments of env(1) that run a command in a terminal of its own.
  package static func arguments(_ steps: [Step], _ command: [String]) -> [String] {
    var script = JSONWriter()
    script.array { writer in
      for step in steps {
        writer.array { writer in
          writer.string(step.question)
          writer.string(step.answer)
        }
      }
    }
    return ["python3", "-c", Self.script, String(decoding: script.bytes, as: UTF8.self)] + command
  }
}
