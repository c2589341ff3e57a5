import Glibc
import LinuxSystem
import TestSupport
import Testing
import Transport

@Suite(.standardTimeLimit) struct ActivationTests {
  @Test func `variables that are meant for another process are ignored`() throws {
    for environment in [
      [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "1", "LISTEN_FDS": "1"], ["LISTEN_PID": "x", "LISTEN_FDS": "1"],
      ["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "0"],
    ] {
      let isThere = try SocketActivation.takeOver(environment: environment, pid: getpid()) != nil
      #expect(!isThere)
    }
  }

  @Test func `more than one socket is refused`() {
    #expect(throws: SocketActivation.Refusal.unexpectedCount("2")) {
      _ = try SocketActivation.takeOver(
        environment: ["LISTEN_PID": "7", "LISTEN_FDS": "2"], pid: 7)
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
