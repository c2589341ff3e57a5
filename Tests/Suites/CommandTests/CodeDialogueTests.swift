import JSON
import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// Codes, backup codes and the outbox, as a person at a terminal meets them.
@Suite(.standardTimeLimit) struct CodeDialogueTests {
  private let scratch = Scratch()

  private static let challenge =
    #"{"otpFlowId":"f","profile":"default","method":"sms","maskedDestination":"••42","otpLength":6,"#
    + #""expiresAt":"2099-01-01T00:00:00Z","nextResendAt":"2099-01-01T00:00:00Z","attemptsRemaining":5,"#
    + #""backupCodesAllowed":true}"#
  private static let session =
    #"{"profile":"default","provider":"local","state":"authenticated","scopes":[],"refreshTokenPresent":true}"#

  private static func refusal(_ code: Int, _ kind: String, attempts: Int) -> String {
    #""error":{"code":\#(code),"message":"The code is wrong.","data":{"kind":"\#(kind)","nextAction":"verifyOtp","#
      + #""retryable":false,"attemptsRemaining":\#(attempts)}}"#
  }

  /// An owner whose logins want a code: `123456`, or the backup code `abcde-fghjk`.
  private func owner(
    provider: String = "local", resend: String = #""result":"# + challenge
  ) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      switch method {
      case "getStatus": return FakeOwner.status()
      case "login": return #""result":{"status":"otpRequired","requires2FA":true,"challenge":\#(Self.challenge)}"#
      case "getSession": return #""result":"# + Self.session.replacing("local", with: provider)
      case "listSessions": return #""result":{"sessions":[\#(Self.session)]}"#
      case "listPendingLogins": return #""result":{"logins":[\#(Self.challenge)]}"#
      case "resendOtp": return resend
      case "verifyOtp" where (try? params?["code"]?.string()) != "123456":
        return Self.refusal(1022, "otpInvalid", attempts: 4)
      case "verifyBackupCode" where (try? params?["backupCode"]?.string()) != "abcde-fghjk":
        return Self.refusal(1025, "backupCodeInvalid", attempts: 1)
      case "verifyBackupCode":
        return #""result":{"status":"authenticated","session":\#(Self.session),"backupCodesRemaining":2}"#
      default: return #""result":{"status":"authenticated","session":\#(Self.session)}"#
      }
    }
  }

  private static let words = ["login", "--email", "ann@example.com"]
  private static let password = CommandRun.Step(question: "Password: ", answer: "x y\n")

  private static func codes(_ typed: String...) -> [CommandRun.Step] {
    typed.map { CommandRun.Step(question: "Code or backup code (r sends another): ", answer: $0 + "\n") }
  }

  @Test func `a wrong code is asked for again, r sends another one, and nothing typed is shown`() throws {
    let owner = try owner()
    let steps = [Self.password] + Self.codes("111111", "r", "123456")
    let run = try CommandRun(atTerminal: steps, Self.words, in: scratch)
    #expect(run.code == 0, "\(run.output)")
    #expect(run.output.contains("authbroker: the code is wrong; 4 attempts left\r\n"), "\(run.output)")
    let place = "a 6-digit code lies in the outbox, as an SMS to ••42"
    #expect(run.output.split(separator: place).count == 3, "\(run.output)")
    #expect(!run.output.contains("111111") && !run.output.contains("123456"), "\(run.output)")
    let asked = owner.requests.filter { $0.hasPrefix("verify") || $0.hasPrefix("resend") }
    #expect(
      asked == [
        #"verifyOtp {"otpFlowId":"f","code":"111111"}"#, #"resendOtp {"otpFlowId":"f"}"#,
        #"verifyOtp {"otpFlowId":"f","code":"123456"}"#,
      ])
  }

  private static func noResend(_ code: Int, _ kind: String, _ isRetryable: Bool) -> String {
    #""error":{"code":\#(code),"message":"No.","data":{"kind":"\#(kind)","nextAction":"wait","#
      + #""retryable":\#(isRetryable),"retryAfterSeconds":90}}"#
  }

  @Test(arguments: [
    (1026, "resendTooSoon", true, "another code cannot be sent yet; enter the last one, or try again in 1 min 30 s"),
    (1043, "rateLimited", true, "no other code can be sent for now; enter the last one, or log in again in 1 min 30 s"),
    (1042, "providerUnavailable", true, "no; try again in 1 min 30 s"),
    (1050, "unsupportedByProvider", false, "no other code can be sent for this login; enter the one that you have"),
  ])
  func `where no other code can be sent the login goes on with the last one`(
    code: Int, kind: String, isRetryable: Bool, advice: String
  ) throws {
    let owner = try owner(resend: Self.noResend(code, kind, isRetryable))
    let steps = [Self.password] + Self.codes("r", "123456")
    let run = try CommandRun(atTerminal: steps, Self.words, in: scratch)
    #expect(run.code == 0 && run.output.contains("authbroker: \(advice)\r\n"), "\(run.output)")
    #expect(owner.requests.contains(#"resendOtp {"otpFlowId":"f"}"#))
    let script = try CommandRun(["verify-otp", "f", "--resend"], in: scratch)
    #expect(script.code != 0 && script.errors == "authbroker: \(advice)\n", "\(script.errors)")
  }

  @Test func `another code goes by the channel that is named, which is sms or email`() throws {
    let owner = try owner()
    _ = try CommandRun(["verify-otp", "f", "--resend", "--channel", "email"], in: scratch)
    #expect(owner.requests.contains(#"resendOtp {"otpFlowId":"f","channel":"email"}"#), "\(owner.requests)")
    for (words, told) in [
      (["--resend", "--channel", "totp"], "sms or email"), (["--channel", "sms"], "--channel goes with --resend"),
    ] {
      let run = try CommandRun(["verify-otp", "f"] + words, in: scratch)
      #expect(run.code == 2 && run.errors.contains(told), "\(run.errors)")
    }
  }

  @Test func `where the login has ended before another code is sent, another login is begun`() throws {
    try withExtendedLifetime(owner(resend: Self.noResend(1024, "flowNotFound", false))) {
      let next = "begin another login with: authbroker --state \(scratch.file("state")) login"
      let run = try CommandRun(atTerminal: [Self.password] + Self.codes("r"), Self.words, in: scratch)
      #expect(run.code == 3 && run.output.hasSuffix(next + "\r\n"), "\(run.output)")
      let script = try CommandRun(["verify-otp", "f", "--resend"], in: scratch)
      #expect(script.code == 3 && script.errors.hasSuffix(next + "\n"), "\(script.errors)")
    }
  }

  @Test func `a backup code is taken in place of the code, and the rest are counted`() throws {
    let owner = try owner()
    let steps = [Self.password] + Self.codes("abcde-fghjj", "abcde-fghjk")
    let run = try CommandRun(atTerminal: steps, Self.words, in: scratch)
    #expect(run.code == 0, "\(run.output)")
    #expect(run.output.contains("authbroker: the code is wrong; 1 attempt left\r\n"), "\(run.output)")
    let state = scratch.file("state")
    let notice = "that backup code is used up; 2 backup codes left; make new ones with: authbroker --state \(state) "
    #expect(run.output.contains(notice + "account backup-codes\r\n"), "\(run.output)")
    #expect(
      owner.requests.filter { $0.hasPrefix("verify") } == [
        #"verifyBackupCode {"otpFlowId":"f","backupCode":"abcde-fghjj"}"#,
        #"verifyBackupCode {"otpFlowId":"f","backupCode":"abcde-fghjk"}"#,
      ])
  }

  @Test func `verify-otp takes a backup code too, from standard input and at a terminal`() throws {
    let owner = try owner()
    for words in [["verify-otp", "--code-stdin"], ["verify-otp", "f", "--code-stdin"]] {
      let run = try CommandRun(words, in: scratch, input: "abcde-fghjk\n")
      #expect(run.code == 0, "\(run.errors)")
      #expect(owner.requests.last == #"verifyBackupCode {"otpFlowId":"f","backupCode":"abcde-fghjk"}"#)
    }
    let run = try CommandRun(atTerminal: Self.codes("111111", "abcde-fghjk"), ["verify-otp", "f"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    let digits = try CommandRun(["verify-otp", "f", "--code-stdin"], in: scratch, input: "123456\n")
    #expect(digits.code == 0 && owner.requests.last == #"verifyOtp {"otpFlowId":"f","code":"123456"}"#)
  }

  @Test(arguments: [3, 4])
  func `new backup codes are advised while some are left`(count: Int) {
    let message = BackupCodeNotice.message(remaining: count, of: nil)
    #expect(message.sentence == "that backup code is used up; \(count) backup codes left")
    #expect((message.next != nil) == (count == 3))
  }

  // MARK: The outbox

  private static let place =
    "a 6-digit code lies in the outbox, as an SMS to ••42, unless local.delivery sends it; it expires on 2099-01-01 00:00; "

  @Test func `a code that was sent nowhere is found with the command that is named`() throws {
    let owner = try owner()
    let person = try CommandRun(atTerminal: [Self.password] + Self.codes("r", "123456"), Self.words, in: scratch)
    #expect(person.code == 0 && !person.output.contains("sent a"), "\(person.output)")
    let command = "authbroker --state \(scratch.file("state"))"
    let line = "authbroker: \(Self.place)show it with: \(command) local outbox"
    #expect(person.output.split(separator: line + "\r\n").count == 3, "\(person.output)")
    let script = try CommandRun(Self.words + ["--password-stdin"], in: scratch, input: "x y\n")
    let answer = "authbroker: the login waits for that code; answer with: \(command) verify-otp f --code-stdin\n"
    #expect(script.code == 3 && script.errors == line + "\n" + answer, "\(script.errors)")
    #expect(!person.output.contains("123456"))
    #expect(!owner.requests.contains { $0.hasPrefix("listLocalMessages") })
    let resent = try CommandRun(["verify-otp", "f", "--resend"], in: scratch)
    #expect(resent.code == 0 && resent.errors == line + "\n", "\(resent.errors)")
  }

  @Test func `of another provider's code no word is said of the outbox`() throws {
    try withExtendedLifetime(owner(provider: "rest")) {
      let run = try CommandRun(Self.words + ["--password-stdin"], in: scratch, input: "x y\n")
      #expect(run.code == 3 && !run.errors.contains("outbox"), "\(run.errors)")
    }
  }

  @Test func `a login makes one connection and three requests before it asks for a code`() throws {
    let forms = #","login":[{"method":"password","fields":["email","password"]}]}"#
    let signedOut = Self.session.replacing("authenticated", with: "signedOut").dropLast() + forms
    for words in [["login"], Self.words] {
      let owner = try FakeOwner(in: scratch) { method, _ in
        switch method {
        case "getSession": #""result":"# + signedOut
        case "checkProvider": #""result":{"profile":"default","provider":"local","findings":[]}"#
        case "login": #""result":{"status":"otpRequired","requires2FA":true,"challenge":\#(Self.challenge)}"#
        default: #""result":{"status":"authenticated","session":\#(Self.session)}"#
        }
      }
      let address = CommandRun.Step(question: "E-mail address: ", answer: "ann@example.com\n")
      let steps = (words.count > 1 ? [] : [address]) + [Self.password] + Self.codes("123456")
      let run = try CommandRun(atTerminal: steps, words, in: scratch)
      #expect(run.code == 0, "\(run.output)")
      let names = owner.requests.map { $0.prefix { $0 != " " } }
      #expect(names == ["getSession", "checkProvider", "login", "verifyOtp"] && owner.guests == 1, "\(owner.requests)")
    }
    // Without a terminal the code is asked for by the exit code.
    let owner = try owner()
    let script = try CommandRun(Self.words + ["--password-stdin"], in: scratch, input: "x y\n")
    #expect(script.code == 3 && owner.guests == 1 && owner.requests.count <= 3, "\(owner.requests)")
  }
}
