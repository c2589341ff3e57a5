import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// What is said where nobody but whoever configures can do anything.
@Suite(.standardTimeLimit) struct ConfigurationFaultTests {
  private static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))
  private static let terms = RefreshMachine.Terms(
    generation: 1, accessEnd: Deadline(wall: start.wall + .seconds(600), uptime: start.uptime + .seconds(600)))

  @Test(arguments: ConfigurationFault.allCases)
  func `a refresh that the configuration prevents keeps the session, backs off and says where to look`(
    _ fault: ConfigurationFault
  ) {
    var machine = RefreshMachine(profile: .default)
    var waits: [Duration] = []
    var now = Self.start
    for flight in 1...4 as ClosedRange<UInt64> {
      _ = machine.handle(.wanted, Self.terms, at: now)
      _ = machine.handle(.intentSaved(flight: flight), Self.terms, at: now)
      let actions = machine.handle(.failed(flight: flight, .misconfigured(fault), jitter: 1), Self.terms, at: now)
      guard actions.count == 2, actions[0] == .closeIntent, case .report(let error, let nextAttempt?) = actions[1]
      else {
        Issue.record("\(actions)")
        return
      }
      #expect(error.kind == ProviderFailure.misconfigured(fault).kind)
      let next = fault.needsLogin ? NextAction.login : .fixConfig
      let wait = nextAttempt - now.wall
      #expect(error.nextAction == next && !error.isRetryable && error.retryAfter == nil)
      #expect(error.message == fault.message)
      #expect(machine.refusal(Self.terms, at: now)?.nextAction == next)
      waits.append(wait)
      now = Moment(wall: now.wall + wait, uptime: now.uptime + wait)
    }
    #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
  }

  @Test func `each fault has a sentence of its own that names the configuration`() {
    let sentences = ConfigurationFault.allCases.map(\.message)
    #expect(Set(sentences).count == sentences.count)
    for sentence in sentences {
      let isLogins = sentence.contains("log in again")
      #expect(sentence.hasSuffix(".") && (isLogins || sentence.contains(" check ")), "\(sentence)")
      #expect(sentence.utf8.count < 200, "\(sentence)")
      #expect(!sentence.dropLast().contains("."), "one sentence: \(sentence)")
    }
  }

  @Test func `what the configuration alone can mend is told apart from a refusal`() {
    for fault in ConfigurationFault.allCases {
      let isOurs = [.issuer, .redirectPort, .embeddedFiles].contains(fault)
      let kind: ErrorKind = fault.needsLogin ? .reauthRequired : isOurs ? .configInvalid : .providerRejected
      #expect(ProviderFailure.misconfigured(fault).kind == kind)
    }
    #expect(ConfigurationFault.issuer.message.contains("provider-check shows the line to change"))
  }

  @Test func `a login that the provider did not go on with says where to look`() throws {
    let action = UserAction(
      loginFlowID: "f", profile: .default, kind: .browser, verificationURI: "https://op.example.com/",
      expiresAt: Self.start.wall)
    let error = BrokerError(.providerRejected, endOf: .action(action))
    #expect(error.kind == .providerRejected && error.nextAction == .fixConfig && error.message.contains("clientId"))
  }
}
