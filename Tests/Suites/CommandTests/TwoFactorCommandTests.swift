import Glibc
import JSON
import TestSupport
import Testing

@testable import authbroker

/// `account 2fa`, and the key of an authenticator.
@Suite(.standardTimeLimit) struct TwoFactorCommandTests {
  private let scratch = Scratch()

  private static let address = "otpauth://totp/AuthBroker:ann?secret=ABCDEFGHIJ234567XY&issuer=AuthBroker"
  private static let session =
    #"{"profile":"default","provider":"local","state":"authenticated","scopes":[],"refreshTokenPresent":true}"#

  private func owner() throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      switch method {
      case "updateProfile":
        let factor = (try? params?["changes"]?["twoFactor"]?.string()) ?? ""
        let enrolment =
          #","enrolment":{"otpFlowId":"e","otpauthUri":"\#(Self.address)","expiresAt":"2099-01-01T00:00:00Z"}"#
        return #""result":{"id":"u"\#(factor == "totp" ? enrolment : "")}"#
      case "getCurrentUser": return #""result":{"id":"u-1","twoFactor":"off"}"#
      case "verifyOtp" where (try? params?["code"]?.string()) != "123456":
        return #""error":{"code":1022,"message":"The code is wrong.","data":{"kind":"otpInvalid","#
          + #""nextAction":"verifyOtp","retryable":false,"attemptsRemaining":4}}"#
      default: return #""result":{"status":"authenticated","session":\#(Self.session)}"#
      }
    }
  }

  @Test(arguments: [
    ("off", "logins ask for no second factor"), ("sms", "a code by SMS"), ("email", "a code by e-mail"),
  ])
  func `a factor without a key is changed at once`(factor: String, text: String) throws {
    let owner = try owner()
    let run = try CommandRun(["account", "2fa", factor], in: scratch)
    #expect(run.code == 0 && run.output.isEmpty && run.errors.contains(text), "\(run.errors)")
    #expect(owner.requests == [#"updateProfile {"changes":{"twoFactor":"\#(factor)"}}"#])
  }

  @Test func `an account without a second factor says so, and what is not known has no line`() throws {
    try withExtendedLifetime(owner()) {
      let shown = try CommandRun(["account", "show"], in: scratch)
      #expect(shown.output == "id             u-1\nsecond factor  none\n", "\(shown.errors)")
    }
  }

  @Test func `at a terminal the key is shown as a picture and as text, and codes are asked for until one is right`()
    throws
  {
    let owner = try owner()
    let steps = ["000000", "123456"].map {
      CommandRun.Step(question: "Code of the authenticator: ", answer: $0 + "\n")
    }
    let run = try CommandRun(
      atTerminal: steps, ["account", "2fa", "totp"], in: scratch, environment: try drawing())
    #expect(run.code == 0, "\(run.output)")
    #expect(run.output.contains("or enter the key: ABCD EFGH IJ23 4567 XY\r\n"), "\(run.output)")
    #expect(run.output.contains("█ \(Self.address)\r\n"), "\(run.output)")
    #expect(run.output.contains("the code is wrong; 4 attempts left"), "\(run.output)")
    #expect(run.output.hasSuffix("logins ask for a second factor: a code of the authenticator\r\n"), "\(run.output)")
    #expect(owner.requests.last == #"verifyOtp {"otpFlowId":"e","code":"123456"}"#)
  }

  /// An environment with a program that draws what it is told, and as many lines as a QR code of 41 columns has.
  private func drawing() throws -> [String: String] {
    let lines = #"i=0; while [ $i -lt 20 ]; do echo "█"; i=$((i+1)); done; echo "█ $(/bin/cat)""#
    try scratch.write("#!/bin/sh\n\(lines)\n", to: "qrencode")
    #expect(chmod(scratch.file("qrencode"), 0o700) == 0)
    return ["PATH": scratch.path + ":/usr/bin:/bin", "NO_COLOR": "1"]
  }

  @Test func `where the program that draws fails, the key is enough`() throws {
    try withExtendedLifetime(owner()) {
      let environment = try drawing()
      try scratch.write("#!/bin/sh\necho █; exit 1\n", to: "qrencode")
      let steps = [CommandRun.Step(question: "Code of the authenticator: ", answer: "123456\n")]
      let run = try CommandRun(atTerminal: steps, ["account", "2fa", "totp"], in: scratch, environment: environment)
      #expect(run.code == 0 && !run.output.contains("█"), "\(run.output)")
      #expect(run.output.contains("enter this key in an authenticator application: ABCD"), "\(run.output)")
    }
  }

  @Test(arguments: [(40, false), (41, true)])
  func `the picture is drawn where it fits into the terminal, and else the key is enough`(
    columns: Int, isDrawn: Bool
  ) throws {
    try withExtendedLifetime(owner()) {
      let steps = [CommandRun.Step(question: "Code of the authenticator: ", answer: "123456\n")]
      let run = try CommandRun(
        atTerminal: steps, ["account", "2fa", "totp"], in: scratch, environment: try drawing(), columns: columns)
      #expect(run.code == 0 && run.output.contains("█") == isDrawn, "\(run.output)")
      let reason = "authbroker: the terminal has 40 columns, too few for a QR code of 41 "
      let request = "authbroker: enter this key in an authenticator application: ABCD EFGH IJ23 4567 XY "
      let said = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(said.contains(reason + request) != isDrawn, "\(run.output)")
    }
  }

  @Test func `a number that is not proven is sent a code, which is asked for or named`() throws {
    let enrolment =
      #"{"otpFlowId":"e","method":"sms","maskedDestination":"+1 ••• ••42","otpLength":6,"#
      + #""expiresAt":"2099-01-01T00:00:00Z"}"#
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "updateProfile": return #""result":{"id":"u","twoFactor":"off","enrolment":\#(enrolment)}"#
      case "getSession": return #""result":\#(Self.session)"#
      default: return #""result":{"status":"authenticated","session":\#(Self.session)}"#
      }
    }
    let named = try CommandRun(["account", "2fa", "sms"], in: scratch)
    #expect(named.code == 3 && named.errors.contains("a 6-digit code lies in the outbox, as an SMS to +1 ••• ••42, "))
    let end = "give it with: authbroker --state \(scratch.file("state")) verify-otp e --code-stdin\n"
    #expect(named.errors.hasSuffix(end), "\(named.errors)")
    let steps = [CommandRun.Step(question: "Code: ", answer: "123456\n")]
    for (words, told) in [
      (["account", "2fa", "sms"], "logins ask for a second factor: a code by SMS\r\n"),
      (["account", "update", "--phone", "+15550100042"], "login codes go there from now on\r\n"),
    ] {
      let asked = try CommandRun(atTerminal: steps, words, in: scratch, environment: ["NO_COLOR": "1"])
      #expect(asked.code == 0 && asked.output.hasSuffix(told), "\(asked.output)")
      #expect(owner.requests.last == #"verifyOtp {"otpFlowId":"e","code":"123456"}"#)
    }
  }

  @Test func `without a terminal the address is data, and the command that takes the code is named`() throws {
    let owner = try owner()
    let run = try CommandRun(["account", "2fa", "totp"], in: scratch)
    #expect(run.code == 3 && run.output == Self.address + "\n", "\(run.output)")
    let end = "give it with: authbroker --state \(scratch.file("state")) verify-otp e --code-stdin\n"
    #expect(run.errors.hasSuffix(end) && !run.errors.contains("ABCD"), "\(run.errors)")
    let json = try CommandRun(["account", "2fa", "totp", "--json"], in: scratch)
    let enrolment = try JSONDocument(parsing: Array(json.output.utf8)).root.required("enrolment")
    #expect(try json.code == 3 && enrolment.required("otpauthUri").string() == Self.address)
    #expect(owner.requests.count == 2)
  }

  @Test(arguments: [
    ("otpauth://totp/a?secret=ABCDE&issuer=x", "ABCD E"), ("otpauth://totp/a?issuer=x&secret=ABCD", "ABCD"),
    ("otpauth://totp/a", ""), ("", ""), ("?secret=", ""),
  ])
  func `the key is read from the address wherever it stands`(address: String, key: String) {
    #expect(AuthenticatorEnrolment.key(of: address) == key)
  }
}
