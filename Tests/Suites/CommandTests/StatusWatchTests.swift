import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// `status --watch` at a terminal: the screen, its end by a key or a signal, and what the terminal is like then.
@Suite(.standardTimeLimit) struct StatusWatchTests {
  private let scratch = Scratch()
  private static let opening = "\u{1B}[?1049h"
  private static let closing = "\u{1B}[?25h\u{1B}[?1049l"

  private static let session =
    #"{"profile":"work","provider":"oidc","state":"authenticated","scopes":[],"refreshTokenPresent":true,"#
    + #""accessTokenExpiresAt":"2099-01-01T10:00:00Z"}"#

  /// An owner; `act` is called once the screen is there, when it is asked for the pending logins.
  private func owner(_ act: @escaping @Sendable () -> Void = {}) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": return FakeOwner.status(profiles: Self.session)
      case "subscribe": return #""result":{"subscriptionId":"s1","sequence":1,"sessions":[]}"#
      default:
        act()
        return #""result":{"logins":[]}"#
      }
    }
  }

  /// Runs it below a shell that shows what the terminal is like before and after it, and names its process in a file.
  private func play(_ steps: [CommandRun.Step]) throws -> CommandRun {
    let program = #"sh -c 'echo $$ >"$2"; exec "$0" --state "$1" status --watch' "$0" "$1" "$2""#
    let line = #"trap : INT QUIT; stty -g; \#(program); echo "code $?"; stty -g"#
    return try CommandRun(shell: line, atTerminal: steps, in: scratch)
  }

  /// What a run shows: the modes of the terminal before and after it, and its exit code.
  private static func modes(_ run: CommandRun) -> (before: Substring?, code: Substring?, after: Substring?) {
    let lines = run.output.split(whereSeparator: \.isNewline)
    let code = lines.firstIndex { $0.contains("code ") }
    return (
      lines.first, code.flatMap { lines[$0].split(separator: " ").last },
      code.flatMap { lines.indices.contains($0 + 1) ? lines[$0 + 1] : nil }
    )
  }

  @Test(arguments: [("q", "0"), ("\u{3}", "130"), ("\u{1C}", "131")])
  func `a key ends it, and the terminal is as it was`(_ key: String, _ code: String) throws {
    let owner = try owner()
    let run = try withExtendedLifetime(owner) { try play([.init(question: "PROFILE", answer: key)]) }
    let (before, shown, after) = Self.modes(run)
    #expect(shown == Substring(code) && before != nil && before == after, "\(run.output)")
    #expect(run.output.contains(Self.opening) && run.output.contains(Self.closing), "\(run.output)")
    #expect(run.output.contains("work     authenticated"), "\(run.output)")
    // It asks for what it shows, and is told of the rest.
    #expect(owner.requests.contains { $0.hasPrefix("subscribe") }, "\(owner.requests)")
    #expect(owner.requests.count { $0.hasPrefix("getStatus") } <= 3, "\(owner.requests)")
  }

  @Test(arguments: [(Signal.terminate, "143"), (.hangUp, "129")])
  func `a signal ends it after the terminal is as it was`(_ signal: Signal, _ code: String) throws {
    let scratch = scratch
    let owner = try owner {
      let pid = (try? scratch.bytes(of: "pid")).flatMap { Int32(String(decoding: $0.dropLast(), as: UTF8.self)) }
      if let pid { try? signal.send(to: pid) }
    }
    let run = try withExtendedLifetime(owner) { try play([]) }
    let (before, shown, after) = Self.modes(run)
    #expect(shown == Substring(code) && before != nil && before == after, "\(run.output)")
    #expect(run.output.contains(Self.closing), "\(run.output)")
  }

  @Test func `it is stopped and goes on as any program of a shell`() throws {
    let owner = try owner()
    let shell = #"PS1='READY> ' exec bash --norc --noprofile --noediting -i"#
    let steps: [CommandRun.Step] = [
      .init(question: "READY> ", answer: "\(CommandRun.program) --state \(scratch.file("state")) status --watch\n"),
      .init(question: "PROFILE", answer: "\u{1A}"), .init(question: "READY> ", answer: "fg\n"),
      .init(question: "PROFILE", answer: "q"), .init(question: "READY> ", answer: "exit\n"),
    ]
    let run = try withExtendedLifetime(owner) { try CommandRun(shell: shell, atTerminal: steps, in: scratch) }
    #expect(run.code == 0 && run.output.contains("Stopped"), "\(run.output)")
    #expect(run.output.ranges(of: Self.opening).count == 2, "\(run.output)")
    #expect(run.output.ranges(of: Self.closing).count == 2, "\(run.output)")
  }

  @Test(arguments: [(["--json"], "has no JSON"), ([], "needs a terminal")] as [([String], String)])
  func `without a terminal, or for programs, it names the command that is right`(
    _ words: [String], _ text: String
  ) throws {
    let run = try CommandRun(["status", "--watch"] + words, in: scratch)
    #expect(run.code == 2 && (run.errors + run.output).contains(text), "\(run.output)\(run.errors)")
    #expect(run.errors.contains("watch --json"), "\(run.errors)")
  }
}
