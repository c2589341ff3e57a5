import BrokerProtocol
import JSON
import TestSupport
import Testing

/// No event is longer than 4 KiB, whatever clients and providers choose.
@Suite(.standardTimeLimit) struct EventLengthTests {
  private static let profile = ProfileName(String(repeating: "p", count: 64)) ?? .default

  private static let texts = [
    "short", String(repeating: "x", count: 100_000), String(repeating: "\u{1}", count: 20_000),
    String(repeating: "ü", count: 50_000), "e" + String(repeating: "\u{301}", count: 50_000),
  ]

  private static func payloads(_ text: String) -> [EventPayload] {
    let challenge = OTPChallenge(
      otpFlowID: String(repeating: "f", count: 64), profile: profile, method: .email, maskedDestination: text,
      otpLength: 6, expiresAt: Timestamp(milliseconds: 0), nextResendAt: Timestamp(milliseconds: 0),
      attemptsRemaining: 5, backupCodesAllowed: true)
    let action = UserAction(
      loginFlowID: String(repeating: "f", count: 64), profile: profile, kind: .deviceCode, verificationURI: text,
      verificationURIComplete: text + text, userCode: text, expiresAt: Timestamp(milliseconds: 0), interval: .seconds(5)
    )
    let process = ConsentProcess(pid: 1 << 22, startedAt: Timestamp(milliseconds: 0), command: text, executable: text)
    let question = ConsentQuestion(
      consentID: String(repeating: "f", count: 64), profile: profile, method: "getAccessToken", scopes: [text],
      audience: text,
      client: ConsentClientState(
        ClientIdentity(uid: 1000, unit: String(repeating: "u", count: 260), label: text, tool: text),
        chain: Array(repeating: process, count: 16)),
      confirm: "once", grants: ConsentGrant(subject: "unit", unit: String(repeating: "u", count: 260)),
      expiresAt: Timestamp(milliseconds: 0))
    return [
      .consentRequested(question), .login(LoginEvent(userID: text, method: "password")),
      .userUpdated(UserUpdatedEvent(userID: text)),
      .otpChallenge(challenge), .otpResent(challenge), .loginPending(action),
    ]
  }

  @Test(arguments: texts)
  func `an event fits into four kibibytes and can be read again`(_ text: String) throws {
    for payload in Self.payloads(text) {
      let event = BrokerEvent(
        sequence: .max, profile: Self.profile, time: Timestamp(milliseconds: 0), payload: payload.fitted)
      let bytes = event.notification(for: "s18446744073709551615", event.details())
      #expect(bytes.count <= 4096, "\(payload.name) \(bytes.count)")
      let root = try JSONDocument(parsing: bytes).root
      #expect(try BrokerEvent.read(from: root.required("params"))?.payload == payload.fitted)
      #expect(payload.fitted.fits && payload.fitted.fitted == payload.fitted)
    }
  }

  @Test(arguments: ["c", "\"", "\u{1}"])
  func `a client's context comes on top, whole`(_ character: String) throws {
    let context = String(repeating: character, count: ParameterLength.clientContext)
    var login = LoginEvent(userID: String(repeating: "u", count: 100_000), method: "password")
    let short = EventPayload.login(login).fitted
    login.clientContext = context
    guard case .login(let told) = EventPayload.login(login).fitted, case .login(var expected) = short else {
      Issue.record("it is another event")
      return
    }
    expected.clientContext = context
    #expect(told == expected && EventPayload.login(told).fits)
    let failed = EventPayload.loginFailed(LoginFailedEvent(kind: "otpInvalid", clientContext: context))
    #expect(failed.fitted == failed)
  }

  @Test func `what is short is left as it is`() {
    for payload in Self.payloads("short") {
      #expect(payload.fits && payload.fitted == payload)
    }
  }
}
