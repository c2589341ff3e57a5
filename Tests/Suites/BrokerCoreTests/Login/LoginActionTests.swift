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
    var machine = LoginSample.device(isReminded: true)
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

  @Test func `a login that waits is told once more at half of its time, a minute after the first time at least`() {
    for (life, delay) in [(300, 150), (600, 300), (100, 60), (60, nil)] as [(Int, Double?)] {
      var machine = LoginSample.pending(.browser, for: life)
      let wake = machine.nextWake(at: LoginSample.time(0))
      #expect(wake == LoginSample.time(delay ?? Double(life)).uptime, "\(life)")
      guard let delay else { continue }
      #expect(machine.handle(.woken, at: LoginSample.time(delay - 0.1)).isEmpty)
      let actions = machine.handle(.woken, at: LoginSample.time(delay))
      guard case .keep(let events, answering: nil)? = actions.first, case .loginPending(let action)? = events.first
      else {
        Issue.record("\(actions)")
        continue
      }
      #expect(action.reminder == true && machine.login.step.action?.reminder == nil && machine.login.isReminded)
      #expect(machine.handle(.woken, at: LoginSample.time(delay + 1)).isEmpty)
      #expect(machine.nextWake(at: LoginSample.time(delay + 1)) == LoginSample.time(Double(life)).uptime)
    }
  }

  @Test func `a device is polled beside the reminder, and one that was reminded of is not again after a restart`() {
    var machine = LoginSample.device()
    for second in stride(from: 5.0, through: 145, by: 5) {
      #expect(machine.handle(.woken, at: LoginSample.time(second)) == [.poll])
      _ = machine.handle(.stillPending(slowsDown: false), at: LoginSample.time(second))
    }
    #expect(Self.names(machine.handle(.woken, at: LoginSample.time(150))) == ["keep loginPending", "poll"])
    var later = LoginMachine(machine.login)
    _ = later.handle(.resumed, at: LoginSample.time(151))
    #expect(later.handle(.woken, at: LoginSample.time(290)) == [.poll])
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
