import Glibc
import LinuxSystem
import TestSupport
import Testing
import Transport

@Suite(.standardTimeLimit) struct ActivationTests {
  @Test(
    arguments: [
      [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "1", "LISTEN_FDS": "1"], ["LISTEN_PID": "x", "LISTEN_FDS": "1"],
      ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "0"],
    ] as [[String: String]])
  func `variables that are meant for another process are ignored`(environment: [String: String]) throws {
    var passed = try SocketActivation(environment: environment, pid: getpid())
    let isThere = try passed.takeOwn(besides: []) != nil
    #expect(!isThere && passed.names.isEmpty)
  }

  @Test(arguments: ["", "x", "-1", "99999999999", "1001"])
  func `a count that is none is refused`(count: String) {
    #expect(throws: SocketActivation.Refusal.unreadableCount(count)) {
      _ = try SocketActivation(environment: ["LISTEN_PID": "7", "LISTEN_FDS": count], pid: 7)
    }
  }

  @Test func `a signal is an event of the loop`() throws {
    // SIGURG is ignored by default, so the other threads of the test process are not harmed.
    let signal = Signal(number: SIGURG)
    let loop = try EventLoop()
    var received: [Signal] = []
    let source = try SignalSource(loop: loop, signals: [signal]) { received.append($0) }
    #expect(pthread_kill(pthread_self(), signal.number) == 0)
    try loop.runOnce()
    #expect(received == [signal])
    source.stop()
    try Signal.unblock([signal])
  }
}
