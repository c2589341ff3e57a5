import BrokerProtocol
import LinuxSystem
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Hooks

/// Programs that are run for events, as they are and as they should not be.
@Suite(.standardTimeLimit) struct EventHooksTests {
  private final class Lines: Sendable {
    private let all = Mutex<[String]>([])
    func add(_ line: [UInt8]) { all.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
    var isEmpty: Bool { all.withLock { $0.isEmpty } }
    func matching(_ text: String) -> [String] { all.withLock { $0.filter { $0.contains(text) } } }
  }

  private let scratch = Scratch()
  private let lines = Lines()
  private let hooks: EventHooks

  init() {
    let environment = ["PATH": "/usr/bin:/bin", "HOME": scratch.path, "CANARY": "x", "XDG_CURRENT_DESKTOP": "y"]
    let lines = lines
    hooks = EventHooks(
      environment: environment, log: Logger(level: .info) { lines.add($0) },
      grace: .milliseconds(300))
  }

  private static func hook(
    _ script: String, _ arguments: String..., events: Set<EventName> = [.login, .networkDown],
    within limit: Duration = Patience.ceiling
  ) -> Hook {
    Hook(events: events, command: ["sh", "-c", script, "sh"] + arguments, timeLimit: limit)
  }

  /// Waits for the test's word.
  private static let waits = "while [ ! -e $HOME/go ]; do sleep 0.01; done"

  private static let login = HookSample.event(7, .login(LoginEvent(userID: "u", method: "browser")), "work")

  private func text(_ name: String) -> String {
    (try? scratch.bytes(of: name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// What the log says, once it says something.
  private func said(_ text: String) -> String {
    _ = Patience.wait { !lines.matching(text).isEmpty }
    return lines.matching(text).first ?? ""
  }

  @Test func `the event is one line of JSON on standard input, and name and profile are filled into arguments`() {
    hooks.update([
      Self.hook(
        "cat >$HOME/in; printf '%s|' \"$@\" >$HOME/args; env >$HOME/env; pwd >$HOME/pwd", "${profile}: ${event}",
        "${HOME} $")
    ])
    hooks.take(Self.login)
    hooks.finish(within: Patience.ceiling, toldOfEnd: Patience.ceiling)
    #expect(
      text("in")
        == #"{"sequence":7,"event":"login","profile":"work","time":"2027-01-15T08:00:00Z","#
        + #""data":{"userId":"u","method":"browser"}}"# + "\n")
    #expect(text("args") == "work: login|${HOME} $|")
    let names = Set(text("env").split(separator: "\n").compactMap { $0.split(separator: "=").first.map(String.init) })
    #expect(names.subtracting(["PWD", "OLDPWD", "SHLVL", "_"]) == ["PATH", "HOME", "XDG_CURRENT_DESKTOP"], "\(names)")
    #expect(text("pwd") == "/\n" && lines.isEmpty)
  }

  @Test func `an event of no profile leaves it empty, and other events are not told`() {
    hooks.update([Self.hook("printf %s \"$1\" >>$HOME/out", "${profile}:${event};", events: [.vaultLocked])])
    hooks.take(Self.login)
    hooks.take(HookSample.event(8, .vaultLocked, nil))
    hooks.finish(within: Patience.ceiling, toldOfEnd: Patience.ceiling)
    #expect(text("out") == ":vaultLocked;")
  }

  @Test func `one run at a time for each hook; what waits is joined; another hook does not wait`() {
    hooks.update([
      Self.hook("mkdir $HOME/lock || touch $HOME/two; \(Self.waits); cat >>$HOME/slow; rmdir $HOME/lock"),
      Self.hook("cat >>$HOME/quick", events: [.networkUp]),
    ])
    hooks.take(Self.login)
    #expect(Patience.wait { scratch.names.contains("lock") })
    for number in 1...5 as ClosedRange<UInt64> { hooks.take(HookSample.event(number, .networkDown, "work")) }
    hooks.take(HookSample.event(6, .networkUp, "work"))
    #expect(Patience.wait { text("quick").contains(#""sequence":6"#) })
    #expect((try? scratch.write("", to: "go")) != nil)
    hooks.finish(within: Patience.ceiling, toldOfEnd: Patience.ceiling)
    let sequences = text("slow").split(separator: "\n").compactMap { $0.split(separator: ",").first.map(String.init) }
    #expect(sequences == [#"{"sequence":7"#, #"{"sequence":5"#] && !scratch.names.contains("two"))
  }

  @Test func `ten thousand events wait for nobody, in bounded room, and those that were dropped are counted`() {
    hooks.update([Self.hook("\(Self.waits); echo >>$HOME/runs")])
    let begun = BootClock.now
    for number in 1...10_000 as ClosedRange<UInt64> {
      hooks.take(HookSample.event(number, .networkDown, "p\(number)"))
    }
    // The program has not ended meanwhile, so that nothing of this has waited for it.
    #expect(text("runs").isEmpty && BootClock.now - begun < Patience.ceiling)
    let waiting = hooks.dropped
    #expect((10_000 - HookQueue.most - 1...10_000 - HookQueue.most).contains(waiting), "\(waiting)")
    #expect(lines.matching("a hook is too slow").count == 1)
    hooks.update([])
    #expect((try? scratch.write("", to: "go")) != nil)
    #expect(said("a hook has missed events").contains("dropped=\(waiting)"))
    #expect(text("runs") == "\n")
  }

  @Test
  func `a program that hangs is asked to end, then killed with all that it started, and the next event has its turn`() {
    let script = """
      read -r line; case $line in *networkDown*) echo >$HOME/next; exit;; esac
      echo $$ >$HOME/shell
      trap 'echo >$HOME/asked' TERM; (trap '' TERM; while [ -d $HOME ]; do sleep 0.05; done) & echo $! >$HOME/child
      while :; do wait; done
      """
    hooks.update([Self.hook(script, within: .milliseconds(300))])
    hooks.take(Self.login)
    hooks.take(HookSample.event(8, .networkDown, "work"))
    #expect(said("a hook failed").contains("did not exit within 0.3 seconds and was ended"))
    #expect(Patience.wait { scratch.names.contains("next") } && scratch.names.contains("asked"))
    let child = Int32(text("child").split(separator: "\n").first ?? "") ?? 0
    #expect(child > 0 && Patience.wait { Self.hasEnded(child) })
    hooks.finish(within: Patience.ceiling, toldOfEnd: Patience.ceiling)
    let shell = text("shell").split(separator: "\n").first.map(String.init) ?? ""
    #expect(!shell.isEmpty && Patience.wait { Self.status(shell).isEmpty }, "its exit code was not taken")
  }

  private static func status(_ process: String) -> String {
    guard let file = try? FileDescriptor.open("/proc/\(process)/stat", .read) else { return "" }
    return (try? file.contents(limit: 512)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Whether a process is gone, or its parent need only take its exit code.
  private static func hasEnded(_ process: Int32) -> Bool {
    let status = status("\(process)")
    return status.isEmpty || status.contains("(sh) Z")
  }

  @Test(arguments: [
    ("exit 3", "it exited with status 3; run it by hand to see why"),
    ("kill -9 $$", "it exited with status 137; run it by hand to see why"),
  ])
  func `each kind of failure is told once`(_ script: String, _ sentence: String) {
    hooks.update([Self.hook("cat >>$HOME/seen; \(script)")])
    for number in 1...3 as ClosedRange<UInt64> {
      hooks.take(HookSample.event(number, .networkDown, "work"))
      #expect(Patience.wait { text("seen").contains("\"sequence\":\(number)") })
    }
    hooks.finish(within: Patience.ceiling, toldOfEnd: Patience.ceiling)
    #expect(lines.matching("a hook failed").count == 1 && said("a hook failed").contains(sentence))
  }

  @Test func `a program that floods its output, or reads nothing, is none the worse for it`() {
    hooks.update([Self.hook("exec <&-; head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; echo >$HOME/done")])
    hooks.take(Self.login)
    hooks.finish(within: Patience.ceiling, toldOfEnd: Patience.ceiling)
    #expect(text("done") == "\n" && lines.isEmpty)
  }

  @Test func `a program that is missing, or may not be executed, is told by its name`() throws {
    try scratch.write("#!/bin/sh\n", to: "closed")
    hooks.update([
      Hook(events: [.login], command: ["no-such-program-here"], timeLimit: .seconds(1)),
      Hook(events: [.login], command: [scratch.file("closed")], timeLimit: .seconds(1)),
    ])
    hooks.take(Self.login)
    hooks.finish(within: Patience.ceiling, toldOfEnd: Patience.ceiling)
    #expect(said("no-such-program-here").contains("it was not found; install it, or write its absolute path"))
    #expect(said("/closed").contains("it may not be executed; run chmod +x on it"))
  }

  @Test func `a reload counts at once, and a hook that stays goes on`() {
    let first = Self.hook("\(Self.waits); cat >>$HOME/first")
    hooks.update([first])
    hooks.take(Self.login)
    hooks.take(HookSample.event(8, .networkDown, "a"))
    hooks.update([first, Self.hook("cat >>$HOME/second", events: [.networkUp])])
    hooks.take(HookSample.event(9, .networkUp, "a"))
    #expect(Patience.wait { text("second").contains(#""sequence":9"#) })
    #expect((try? scratch.write("", to: "go")) != nil)
    #expect(Patience.wait { text("first").contains(#""sequence":8"#) })
    hooks.update([])
    hooks.take(HookSample.event(10, .networkUp, "a"))
    hooks.finish(within: Patience.ceiling, toldOfEnd: Patience.ceiling)
    #expect(!text("second").contains(#""sequence":10"#) && !text("first").contains(#""sequence":10"#))
  }

  @Test func `a stop waits for a hook for its time and no longer`() {
    hooks.update([Self.hook("cat >$HOME/begun; exec sleep 3600", within: .milliseconds(500))])
    hooks.take(Self.login)
    #expect(Patience.wait { scratch.names.contains("begun") })
    hooks.finish(within: .milliseconds(50), toldOfEnd: Patience.ceiling)
    hooks.take(HookSample.event(9, .networkDown, "a"))
    #expect(said("a hook failed").contains("was ended"))
  }

  @Test func `a hook that is told of the end has more time than the others`() {
    hooks.update([Self.hook("\(Self.waits); cat >$HOME/told", events: [.shuttingDown])])
    hooks.take(HookSample.event(10, .shuttingDown, nil))
    #expect((try? scratch.write("", to: "go")) != nil)
    hooks.finish(within: .zero, toldOfEnd: Patience.ceiling)
    #expect(text("told").contains("shuttingDown"))
  }
}
