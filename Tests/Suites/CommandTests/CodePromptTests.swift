import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// What a typed code is taken for.
@Suite(.standardTimeLimit) struct CodePromptTests {
  private static func challenge(
    _ method: OTPChallenge.Method = .sms, length: Int = 6, backupCodesAllowed: Bool
  ) -> OTPChallenge {
    OTPChallenge(
      otpFlowID: "f", profile: .default, method: method, maskedDestination: "", otpLength: length,
      expiresAt: Timestamp(milliseconds: 0), nextResendAt: Timestamp(milliseconds: 0), attemptsRemaining: 5,
      backupCodesAllowed: backupCodesAllowed)
  }

  @Test(arguments: ["r", "resend"])
  func `the words for another code are no code, with and without backup codes`(word: String) throws {
    let typed = try Secret(utf8: word)
    for isAllowed in [true, false] {
      #expect(CodePrompt.Answer(typed, Self.challenge(backupCodesAllowed: isAllowed)) == .resend)
    }
  }

  @Test func `a channel of the challenge has the next code sent that way`() throws {
    var challenge = Self.challenge(backupCodesAllowed: false)
    let typed = try Secret(utf8: "email")
    #expect(CodePrompt.Answer(typed, challenge) == .code(typed))
    challenge.channels = [.sms, .email]
    #expect(CodePrompt.Answer(typed, challenge) == .resendBy(.email))
    #expect(CodePrompt.question(challenge) == "Code (r sends another, email sends one there): ")
  }

  @Test(arguments: [
    "123456", "123 456", "123-456", "123–456", "12345", "1234567", "1", " ", "1\u{A0}23456",
  ])
  func `digits that may be a mistyped code are sent as one`(text: String) throws {
    let typed = try Secret(utf8: text)
    for isAllowed in [true, false] {
      #expect(CodePrompt.Answer(typed, Self.challenge(backupCodesAllowed: isAllowed)) == .code(typed))
    }
  }

  @Test(arguments: ["abcde-23456", "ABCDE 23456", "12345678", "1234-5678", "word", "R", "r2", "Resend"])
  func `letters, and more digits than a slip makes, are a backup code where one is taken`(text: String) throws {
    let typed = try Secret(utf8: text)
    #expect(CodePrompt.Answer(typed, Self.challenge(backupCodesAllowed: true)) == .backupCode(typed))
    #expect(CodePrompt.Answer(typed, Self.challenge(backupCodesAllowed: false)) == .code(typed))
  }

  @Test func `codes of eight digits are one-time codes where those are as long`() throws {
    let (code, longer) = (try Secret(utf8: "12345678"), try Secret(utf8: "1234567890"))
    let challenge = Self.challenge(length: 8, backupCodesAllowed: true)
    #expect(CodePrompt.Answer(code, challenge) == .code(code))
    #expect(CodePrompt.Answer(longer, challenge) == .backupCode(longer))
  }

  @Test(arguments: [
    (OTPChallenge.Method.sms, false, "Code (r sends another): "),
    (.email, true, "Code or backup code (r sends another): "), (.totp, false, "Code: "),
    (.totp, true, "Code or backup code: "),
  ])
  func `the question says what may be typed`(method: OTPChallenge.Method, isAllowed: Bool, question: String) {
    #expect(CodePrompt.question(Self.challenge(method, backupCodesAllowed: isAllowed)) == question)
  }
}
