import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// What a login decides that waits for its user, at another device or in a browser.
@Suite(.standardTimeLimit) struct LoginActionTests {
  private static func names(_ actions: [LoginMachine.Action]) -> [String] { actions.map(LoginSample.name) }

  @Test func `what is said of a refused device code speaks of no browser and no secret`() {
    let step = PendingLoginStep.action(LoginSample.action(.deviceCode))
    for end in [LoginEnd.codeRefused, .of(.providerRejected)] {
      let message = end.error(step).message
      #expect(message.contains("device"), "\(message)")
      #expect(!message.contains("authorization code") && !message.contains("clientSecret"), "\(message)")
    }
    let browser = PendingLoginStep.action(LoginSample.action(.browser))
    #expect(LoginEnd.codeRefused.error(browser).message.contains("authorization code"))
  }

  @Test func `a device is asked for at the interval, and slower where the provider says so`() {
    var machine = LoginSample.device()
    #expect(machine.nextWake(at: LoginSample.time(0)) == LoginSample.time(5).uptime)
    #expect(machine.handle(.woken, at: LoginSample.time(4.9)).isEmpty)
    #expect(machine.handle(.woken, at: LoginSample.time(5)) == [.poll])
    #expect(machine.handle(.woken, at: LoginSample.time(6)).isEmpty)
    #expect(machine.handle(.stillPending(slowsDown: false), at: LoginSample.time(7)).isEmpty)
    #expect(machine.nextWake(at: LoginSample.time(7)) == LoginSample.time(12).uptime)
    _ = machine.handle(.woken, at: LoginSample.time(12))
    #expect(Self.names(machine.handle(.stillPending(slowsDown: true), at: LoginSample.time(12))) == ["keep"])
    #expect(machine.nextWake(at: LoginSample.time(12)) == LoginSample.time(22).uptime)
    #expect(machine.login.step.action?.interval == .seconds(10))
  }

  @Test func `a provider that is away is polled more seldom, down to twice a minute; any answer ends that`() {
    var machine = LoginSample.device()
    var now = 5.0
    for pause in [10.0, 20, 30, 30] {
      #expect(machine.handle(.woken, at: LoginSample.time(now)) == [.poll])
      #expect(machine.handle(.actionFailed(.transient(.networkUnavailable)), at: LoginSample.time(now)).isEmpty)
      #expect(machine.nextWake(at: LoginSample.time(now)) == LoginSample.time(now + pause).uptime)
      now += pause
    }
    _ = machine.handle(.woken, at: LoginSample.time(now))
    _ = machine.handle(.stillPending(slowsDown: false), at: LoginSample.time(now))
    #expect(machine.nextWake(at: LoginSample.time(now)) == LoginSample.time(now + 5).uptime)
    _ = machine.handle(.woken, at: LoginSample.time(now + 5))
    now += 5
    for (wish, pause) in [(nil, 5.0), (7, 7), (77, 30), (86_400, 30)] as [(Int?, Double)] {
      let failure = ProviderFailure.transient(.providerUnavailable, retryAfter: wish.map { .seconds($0) })
      _ = machine.handle(.actionFailed(failure), at: LoginSample.time(now))
      #expect(machine.nextWake(at: LoginSample.time(now)) == LoginSample.time(now + pause).uptime)
      now += pause
      #expect(machine.handle(.woken, at: LoginSample.time(now)) == [.poll])
    }
  }

  @Test(arguments: [
    (ProviderFailure.refused(.consentDenied), ErrorKind.consentDenied), (.refused(.otpExpired), .otpExpired),
    (.sessionEnded(.refreshRejected), .otpExpired), (.unsupported, .unsupportedByProvider),
    (.tokenRefused, .providerRejected), (.refused(.accessDenied), .accessDenied),
    (.misconfigured(.client), .providerRejected), (.misconfigured(.redirectPort), .configInvalid),
    (.refused(.flowNotFound), .providerRejected),
  ])
  func `what does not pass ends the login`(_ failure: ProviderFailure, _ kind: ErrorKind) {
    for state in ["polling", "listening"] {
      var machine = LoginSample.machine(in: state)
      #expect(
        Self.names(machine.handle(.actionFailed(failure), at: LoginSample.time(6))).last == "end \(kind.rawValue) told")
    }
  }

  @Test func `a browser comes back once, so that a failure after it is the end`() {
    var machine = LoginSample.browser()
    let actions = machine.handle(.actionFailed(.transient(.networkUnavailable)), at: LoginSample.time(6))
    #expect(Self.names(actions) == ["stopListening", "end networkUnavailable told"])
  }

  @Test func `a wait that was taken back is a login that was replaced, and another one's event tells it`() {
    var machine = LoginSample.browser()
    let actions = machine.handle(.actionFailed(.transient(.cancelled)), at: LoginSample.time(6))
    #expect(actions == [.stopListening, .end(.replaced, isTold: false)])
    // At another device it is only a call that was.
    var device = LoginSample.machine(in: "polling")
    let again = device.handle(.actionFailed(.transient(.cancelled)), at: LoginSample.time(6))
    #expect(again.isEmpty && LoginSample.name(device.state) == "resting")
  }
}
