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
  private static let cases = [
    (challenge("totp", ""), "enter the 6-digit code of your authenticator"),
    (challenge("sms", "••12"), "sent a 6-digit code to ••12 by SMS; \(end)"),
    (challenge("email", ""), "sent a 6-digit code by e-mail; \(end)"),
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
  func `somebody at a terminal reads one sentence, whatever asks for the code`(challenge: String, text: String) throws {
    let owner = try owner(challenge)
    let steps = ["E-mail address: ": "a@b.c\n", "Password: ": "x y\n"]
    let asked = ["E-mail address: ", "Password: "].map { CommandRun.Step(question: $0, answer: steps[$0] ?? "") }
    for (words, question) in [
      (["login", "--method", "password"], "Code (or resend): "),
      (["provider-check", "--login", "--method", "password"], "Code (or resend): "),
    ] {
      let code = CommandRun.Step(question: question, answer: "123456\n")
      let run = try CommandRun(atTerminal: asked + [code], words, in: scratch)
      #expect(run.code == 0 && run.output.contains("authbroker: \(text)\r\n"), "\(run.output)")
    }
    #expect(owner.requests.contains { $0.contains(#""code":"123456""#) })
  }

  @Test(arguments: cases)
  func `a script reads the same, and what answers it`(challenge: String, text: String) throws {
    let owner = try owner(challenge)
    let run = try CommandRun(["login", "--email", "a@b.c", "--password-stdin"], in: scratch, input: "x y\n")
    let command = "authbroker --state \(scratch.file("state")) verify-otp example-flow --code-stdin"
    #expect(run.code == 3 && run.errors == "authbroker: \(text); answer with: \(command)\n", "\(run.errors)")
    #expect(owner.requests.count == 1)
  }
}
