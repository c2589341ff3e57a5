import BrokerProtocol
import LinuxSystem
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Hooks

/// The program that asks the owner, as it is and as it should not be.
@Suite(.standardTimeLimit) struct ConsentProgramTests {
  private final class Texts: Sendable {
    private let all = Mutex<[String]>([])
    func add(_ text: String) { all.withLock { $0.append(text) } }
    var list: [String] { all.withLock { $0 } }
    func matching(_ text: String) -> [String] { list.filter { $0.contains(text) } }
  }

  private let scratch = Scratch()
  private let log = Texts()
  private let answers = Texts()
  private let program: ConsentProgram

  init() {
    let log = log
    program = ConsentProgram(
      environment: ["PATH": "/usr/bin:/bin", "HOME": scratch.path],
      log: Logger(level: .info) { log.add(String(decoding: $0, as: UTF8.self)) }, grace: .milliseconds(300))
  }

  private func use(_ script: String, _ arguments: String...) { use(["sh", "-c", script, "sh"] + arguments) }

  private func use(_ command: [String]) {
    let answers = answers
    program.update(command) { id, isAllowed in answers.add("\(id) \(isAllowed)") }
  }

  /// A question that has its time still to come, or is over.
  private static func question(_ id: String = "c1", within time: Duration = Patience.ceiling) -> ConsentQuestion {
    ConsentQuestion(
      consentID: id, profile: ProfileName("work") ?? .default, method: "getAccessToken",
      client: ConsentClientState(ClientIdentity(uid: 1000, tool: "a\"b\u{1B}")), confirm: "once",
      grants: ConsentGrant(subject: "process"),
      expiresAt: WallClock.timestamp + time)
  }

  private func wait(for answer: String) -> Bool { Patience.wait { answers.list.contains(answer) } }

  private func text(_ name: String) -> String {
    (try? scratch.bytes(of: name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  @Test func `the question is one line of JSON on standard input, and its profile is filled into arguments`() throws {
    use("cat >$HOME/in; printf '%s|' \"$@\" >$HOME/args", "${profile} ${event}", "$HOME")
    program.ask(Self.question())
    #expect(wait(for: "c1 true"))
    let line = text("in")
    #expect(line.hasPrefix(#"{"consentId":"c1","profile":"work","method":"getAccessToken","client":{"uid":1000,"#))
    #expect(line.hasSuffix("}\n") && line.contains(#""tool":"a\"b\u001b""#), "\(line)")
    #expect(text("args") == "work consentRequested|$HOME|")
  }

  @Test(arguments: [(0, true), (1, false), (2, false), (127, false), (200, false)])
  func `status 0 allows, and another one refuses`(_ status: Int, _ isAllowed: Bool) {
    use("exit \(status)")
    program.ask(Self.question())
    #expect(wait(for: "c1 \(isAllowed)"))
    #expect(log.list.isEmpty)
  }

  @Test(arguments: [
    (["sh", "-c", "kill -KILL $$"], "signal 9"), (["sh", "-c", "kill -TERM $$"], "signal 15"),
    (["no-such-program-of-the-owners"], "was not found"), (["/etc/passwd"], "chmod +x"),
  ]) func `one that is killed, missing or cannot be started has not answered`(_ command: [String], _ reason: String) {
    use(command)
    program.ask(Self.question())
    #expect(Patience.wait { !log.matching(reason).isEmpty }, "\(log.list)")
    // The next one is asked all the same.
    use("exit 0")
    program.ask(Self.question("c2"))
    #expect(wait(for: "c2 true"))
    #expect(answers.list == ["c2 true"] && log.list.count == 1, "\(log.list)")
  }

  @Test func `one question is asked at a time, and one that is answered elsewhere ends its program`() {
    use("trap 'echo end >>$HOME/runs; exit 1' TERM; echo run >>$HOME/runs; while :; do sleep 0.01; done")
    for id in ["c1", "c2", "c3"] { program.ask(Self.question(id)) }
    #expect(Patience.wait { text("runs") == "run\n" })
    program.withdraw("c2")
    program.withdraw("c1")
    #expect(Patience.wait { text("runs") == "run\nend\nrun\n" }, "\(text("runs"))")
    program.close()
    #expect(answers.list.isEmpty, "what it says at its end is no answer")
  }

  @Test func `a program that outlives its question is ended, whatever it does then`() {
    use("trap 'exit 0' TERM; echo run >>$HOME/runs; while :; do sleep 0.01; done")
    program.ask(Self.question(within: .zero))
    #expect(Patience.wait { text("runs") == "run\n" })
    use("exit 0")
    program.ask(Self.question("c2"))
    #expect(wait(for: "c2 true"))
    #expect(answers.list == ["c2 true"])
  }

  @Test func `without a program nothing is asked`() {
    use([])
    program.ask(Self.question())
    use("exit 0")
    program.ask(Self.question("c2"))
    #expect(wait(for: "c2 true") && answers.list == ["c2 true"])
  }
}
