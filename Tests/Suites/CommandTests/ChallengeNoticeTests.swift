import BrokerProtocol
import JSON
import TestSupport
import Testing

@testable import authbroker

/// What a person is told of a code that is wanted.
@Suite(.standardTimeLimit) struct ChallengeNoticeTests {
  private let scratch = Scratch()

  private static func challenge(_ method: String, _ destination: String) -> String {
    #"{"otpFlowId":"example-flow","profile":"default","method":"\#(method)","maskedDestination":"\#(destination)","#
      + #""otpLength":6,"expiresAt":"2099-01-01T00:00:00Z","nextResendAt":"2099-01-01T00:00:00Z","#
      + #""attemptsRemaining":5,"backupCodesAllowed":false}"#
  }

  private static let end = "it expires on 2099-01-01 00:00"
  private static let resending = "Code (r sends another): "
  private static let cases = [
    (challenge("totp", ""), "enter the 6-digit code of your authenticator", "Code: "),
    (challenge("sms", "••12"), "sent a 6-digit code to ••12 by SMS; \(end)", resending),
    (challenge("email", ""), "sent a 6-digit code by e-mail; \(end)", resending),
  ]
  private static let session =
    #""result":{"status":"authenticated","session":{"profile":"default","provider":"oidc","state":"authenticated","#
    + #""scopes":[],"refreshTokenPresent":true}}"#

  private func owner(_ challenge: String) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      let isAnswered = params?["code"] != nil || params?["stop"] != nil
      return switch method {
      case "getStatus": FakeOwner.status()
      case "login": #""result":{"status":"otpRequired","requires2FA":true,"challenge":\#(challenge)}"#
      case "checkProvider":
        #""result":{"profile":"default","provider":"oidc","loginMethods":[],"findings":[],"trial":[]}"#
      case "tryProvider", "continueTrial":
        #""result":{"trialId":"t1","findings":[],"waitsFor":"#
          + (isAnswered ? #""nothing"}"# : #""code","challenge":\#(challenge)}"#)
      default: Self.session
      }
    }
  }

  @Test(arguments: cases)
  func `somebody at a terminal reads one sentence, whatever asks for the code`(
    challenge: String, text: String, question: String
  ) throws {
    let owner = try owner(challenge)
    let steps = ["E-mail address: ": "a@b.c\n", "Password: ": "x y\n"]
    let asked = ["E-mail address: ", "Password: "].map { CommandRun.Step(question: $0, answer: steps[$0] ?? "") }
    for words in [["login", "--method", "password"], ["provider-check", "--login", "--method", "password"]] {
      let code = CommandRun.Step(question: question, answer: "123456\n")
      let run = try CommandRun(atTerminal: asked + [code], words, in: scratch)
      #expect(run.code == 0 && run.output.contains("authbroker: \(text)\r\n"), "\(run.output)")
    }
    #expect(owner.requests.contains { $0.contains(#""code":"123456""#) })
  }

  @Test(arguments: cases)
  func `a script reads the same, and what answers it`(challenge: String, text: String, question: String) throws {
    let owner = try owner(challenge)
    let run = try CommandRun(["login", "--email", "a@b.c", "--password-stdin"], in: scratch, input: "x y\n")
    let command = "authbroker --state \(scratch.file("state")) verify-otp example-flow --code-stdin"
    #expect(run.code == 3 && run.errors == "authbroker: \(text); answer with: \(command)\n", "\(run.errors)")
    #expect(owner.requests.filter { $0.hasPrefix("login") }.count == 1)
  }

  @Test(arguments: [(60, true), (0, false), (-30, false), (300, false), (900, false)])
  func `when another code can be sent is said where that is before this one expires`(resend: Int, isSaid: Bool) {
    let now = Timestamp(milliseconds: 0)
    let challenge = OTPChallenge(
      otpFlowID: "f", profile: .default, method: .sms, maskedDestination: "", otpLength: 6,
      expiresAt: now + .seconds(300), nextResendAt: now + .seconds(resend), attemptsRemaining: 5,
      backupCodesAllowed: false)
    let text = ChallengeNotice.text(challenge, now: now)
    #expect(text.hasPrefix("sent a 6-digit code by SMS; it expires in 5 minutes ("), "\(text)")
    #expect(text.contains("), and another one can be sent in 60 seconds (") == isSaid, "\(text)")
    #expect(text.contains("another") == isSaid, "\(text)")
  }
}
