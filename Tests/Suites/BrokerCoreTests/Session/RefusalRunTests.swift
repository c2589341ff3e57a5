import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// A provider that goes on refusing a refresh token in words that may mean its end.
@Suite(.standardTimeLimit) struct RefusalRunTests {
  private static let word = ProviderWord("invalid_request").map { ProviderRejection.Said.error($0) }
  private static let refusal = ProviderFailure.rejected(
    ProviderRejection(fault: .request, said: word, isCounted: true))

  /// A session whose access token has ended.
  private func script() -> SessionScript {
    var script = SessionScript(SessionRules(expiry: ExpiryPolicy()))
    _ = script.restart()
    script.pass(2000)
    return script
  }

  /// Refuses one request after another; what the last one came to.
  private func refuse(
    _ script: inout SessionScript, _ flights: ClosedRange<UInt64>, every seconds: Int,
    _ failure: ProviderFailure = Self.refusal
  ) -> [String] {
    var last: [String] = []
    for flight in flights {
      script.pass(seconds)
      _ = script.want(flight)
      last = script.fail(flight, failure)
    }
    return last
  }

  @Test func `five refusals over two minutes show the session as expired, and its token is tried again`() {
    var script = script()
    #expect(refuse(&script, 1...4, every: 40).contains("error 4 providerRejected"))
    #expect(!script.machine.isShownExpired)
    #expect(
      refuse(&script, 5...5, every: 40)
        == ["publish sessionExpired", "error 5 sessionExpired", "publish refreshFailed"])
    #expect(script.machine.isShownExpired && script.machine.living != nil && script.intent == nil)
    #expect(script.machine.shownEndMessage?.contains("(invalid_request)") == true)
    #expect(script.want(6) == ["error 6 sessionExpired"])
    for (flight, pause) in zip(6...11 as ClosedRange<UInt64>, [5, 15, 45, 120, 3600, 3600]) {
      // Between two tries it is written down when the session was last used.
      script.pass(pause - 1)
      #expect(!script.play(.woken).contains { $0.hasPrefix("spend") })
      script.pass(1)
      #expect(script.play(.woken) == ["spend \(flight) refresh-1"])
      _ = script.fail(flight, Self.refusal)
      #expect(script.machine.isShownExpired)
    }
  }

  @Test func `an outage while a token is seldom tried has it tried quickly again, once`() {
    var script = script()
    _ = refuse(&script, 1...5, every: 40)
    let answers: [(Int, ProviderFailure)] =
      [5, 15, 45, 120, 3600].map { ($0, Self.refusal) }
      + [3600, 5, 15, 45, 120, 3600, 3600].map { ($0, .transient(.providerUnavailable)) } + [(3600, Self.refusal)]
      + [(3600, .transient(.networkUnavailable)), (5, Self.refusal)]
    for (index, (pause, failure)) in answers.enumerated() {
      script.pass(pause - 1)
      #expect(!script.play(.woken).contains { $0.hasPrefix("spend") }, "\(index)")
      script.pass(1)
      #expect(script.play(.woken) == ["spend \(index + 6) refresh-1"], "\(index)")
      _ = script.fail(UInt64(index + 6), failure)
      #expect(script.machine.isShownExpired)
    }
  }

  @Test func `a success brings the session back, and is told as a login`() {
    var script = script()
    _ = refuse(&script, 1...5, every: 40)
    script.pass(5)
    #expect(script.play(.woken) == ["spend 6 refresh-1"])
    #expect(script.succeed(6) == ["save living 8 announcing tokenRefreshed login"])
    #expect(!script.machine.isShownExpired)
    #expect(script.want(7) == ["token 7"])
  }

  @Test func `a person's own request and another configuration are tried at once, but not again and again`() {
    var script = script()
    _ = refuse(&script, 1...5, every: 40)
    #expect(script.want(6, force: true) == ["error 6 sessionExpired"])
    for pause in [5, 15, 45, 120] {
      script.pass(pause)
      _ = script.play(.woken)
      _ = script.fail(flight(script), Self.refusal)
    }
    script.pass(10)
    #expect(script.want(7, force: true) == ["spend \(flight(script)) refresh-1"])
    #expect(script.fail(flight(script), Self.refusal).contains("error 7 sessionExpired"))
    script.pass(10)
    #expect(script.play(.rulesChanged(SessionRules())) == ["spend \(flight(script)) refresh-1"])
  }

  private func flight(_ script: SessionScript) -> UInt64 {
    if case .sent(let flight, _) = script.machine.refreshState { return flight }
    return 0
  }

  @Test(
    arguments: [
      .rejected(ProviderRejection(said: word)), .transient(.providerUnavailable), .misconfigured(.client),
    ] as [ProviderFailure])
  func `what is never counted shows nothing`(_ failure: ProviderFailure) {
    var script = script()
    _ = refuse(&script, 1...9, every: 400, failure)
    #expect(!script.machine.isShownExpired && script.machine.living != nil)
  }

  @Test func `neither few refusals, nor many in a short time, nor such while the access token lives are enough`() {
    var script = script()
    _ = refuse(&script, 1...6, every: 15)
    #expect(!script.machine.isShownExpired)
    script = SessionScript()
    _ = script.restart()
    for flight in 1...6 as ClosedRange<UInt64> {
      script.pass(60)
      _ = script.want(flight, force: true)
      _ = script.fail(flight, Self.refusal)
    }
    #expect(!script.machine.isShownExpired)
  }

  @Test func `a login and a logout end it`() {
    var script = script()
    _ = refuse(&script, 1...5, every: 40)
    #expect(script.play(.logoutWanted(.user)).contains("save signedOut 8 announcing logout"))
    #expect(!script.machine.isShownExpired)
  }
}

/// A refresh token that comes without an access token that can be used.
@Suite(.standardTimeLimit) struct RotatedTokenTests {
  private func rotated(_ token: String, said: ProviderRejection.Said? = nil) throws -> ProviderFailure {
    .rotated(
      RotatedToken(
        refreshToken: try Secret(utf8: token), expiresAt: nil,
        rejection: ProviderRejection(.invalidResponse, said: said)))
  }

  @Test func `tokens of a type that cannot be used rotate once an hour, and trying again is not advised`() throws {
    var script = SessionScript()
    _ = script.restart()
    script.pass(2000)
    _ = script.want(1)
    let mac = ProviderWord("mac").map { ProviderRejection.Said.tokenType($0) }
    for flight in 1...3 as ClosedRange<UInt64> {
      _ = script.fail(flight, try rotated("refresh-\(flight + 8)", said: mac))
      #expect((script.nextWake ?? 0) > 3000)
      script.pass(3700)
      _ = script.want(flight + 1, force: true)
    }
    #expect(!BrokerError(try rotated("r", said: mac), profile: .default).isRetryable)
  }

  @Test func `it is saved, and the request is repeated with it`() throws {
    var script = SessionScript()
    _ = script.restart()
    script.pass(2000)
    #expect(script.want(1) == ["spend 1 refresh-1"])
    #expect(script.fail(1, try rotated("refresh-9")) == ["save living 8", "spend 2 refresh-9"])
    #expect(script.succeed(2) == ["save living 9 announcing tokenRefreshed", "token 1"])
  }

  @Test func `it is repeated at once only once, and not where the next answer would be the same`() throws {
    var script = SessionScript()
    _ = script.restart()
    script.pass(2000)
    _ = script.want(1)
    _ = script.fail(1, try rotated("refresh-9"))
    #expect(
      script.fail(2, try rotated("refresh-10"))
        == ["save living 9", "error 1 invalidResponse", "publish refreshFailed"])
    script.pass(60)
    #expect(script.want(2) == ["spend 3 refresh-10"])
    let mac = ProviderWord("mac").map { ProviderRejection.Said.tokenType($0) }
    #expect(
      script.fail(3, try rotated("refresh-11", said: mac))
        == ["save living 10", "error 2 invalidResponse", "publish refreshFailed"])
    #expect(script.machine.living?.tokens.refreshToken?.value == (try Secret(utf8: "refresh-11")))
  }

  @Test func `the token that was sent is no other one`() throws {
    var script = SessionScript()
    _ = script.restart()
    script.pass(2000)
    _ = script.want(1)
    #expect(script.fail(1, try rotated("refresh-1")) == ["error 1 invalidResponse", "publish refreshFailed"])
    #expect(script.intent == nil)
  }
}
