import JSON
import TestSupport
import Testing

@testable import authbroker

/// `verify-otp` without the name of a login.
@Suite(.standardTimeLimit) struct VerifyOTPCommandTests {
  private let scratch = Scratch()

  private static func challenge(_ profile: String) -> String {
    #"{"otpFlowId":"flow-\#(profile)","profile":"\#(profile)","method":"sms","maskedDestination":"","otpLength":6,"#
      + #""expiresAt":"2099-01-01T00:00:00Z","nextResendAt":"2099-01-01T00:00:00Z","attemptsRemaining":5,"#
      + #""backupCodesAllowed":false}"#
  }

  /// An owner of two profiles, on some of which a login waits for its code.
  private func owner(waiting: Set<String>, state: String = "signedOut") throws -> FakeOwner {
    let sessions = ["a", "b"].map {
      #"{"profile":"\#($0)","provider":"oidc","state":"\#(state)","scopes":[],"refreshTokenPresent":false}"#
    }
    return try FakeOwner(in: scratch) { method, params in
      let profile = (try? params?["profile"]?.string()) ?? ""
      switch method {
      case "listSessions": return #""result":{"sessions":[\#(sessions.joined(separator: ","))]}"#
      case "listPendingLogins":
        return #""result":{"logins":[\#(waiting.contains(profile) ? Self.challenge(profile) : "")]}"#
      default: return #""result":{"status":"authenticated","session":\#(sessions[0])}"#
      }
    }
  }

  @Test func `the only login that waits is answered`() throws {
    let owner = try owner(waiting: ["b"])
    let run = try CommandRun(["verify-otp", "--code-stdin"], in: scratch, input: "123456\n")
    #expect(run.code == 0, "\(run.errors)")
    #expect(owner.requests.last == #"verifyOtp {"otpFlowId":"flow-b","code":"123456"}"#)
  }

  @Test func `of several, the profile's is answered, or one must be named`() throws {
    let owner = try owner(waiting: ["a", "b"])
    let several = try CommandRun(["verify-otp", "--code-stdin"], in: scratch, input: "123456\n")
    #expect(several.code == 2 && several.errors.contains("2 logins wait for a code"), "\(several.errors)")
    #expect(!owner.requests.contains { $0.hasPrefix("verifyOtp") })
    #expect(try CommandRun(["verify-otp", "--profile", "a", "--code-stdin"], in: scratch, input: "1\n").code == 0)
    #expect(owner.requests.last == #"verifyOtp {"otpFlowId":"flow-a","code":"1"}"#)
  }

  @Test func `where none waits, a login must be begun`() throws {
    _ = try withExtendedLifetime(try owner(waiting: [])) {
      let run = try CommandRun(["verify-otp", "--code-stdin"], in: scratch, input: "123456\n")
      #expect(
        run.code == 3 && run.errors.hasSuffix("begin one with: authbroker --state \(scratch.file("state")) login\n"))
    }
  }

  @Test func `where a session lives, the code may be a second factor's, which can be asked for again`() throws {
    _ = try withExtendedLifetime(try owner(waiting: [], state: "authenticated")) {
      let run = try CommandRun(["verify-otp", "--code-stdin", "--json"], in: scratch, input: "123456\n")
      #expect(run.code == 3 && run.output.contains(#""kind":"flowNotFound""#), "\(run.output)")
      let end = "to have another sent: authbroker --state \(scratch.file("state")) account 2fa METHOD\n"
      #expect(run.errors.hasSuffix(end), "\(run.errors)")
    }
  }

  @Test func `a flow that is not there is known before a code is asked for`() throws {
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "listSessions": #""result":{"sessions":[]}"#
      case "verifyOtp": FakeOwner.refusal(1024, "flowNotFound", "No such login waits.")
      default: #""result":{}"#
      }
    }
    let run = try CommandRun(atTerminal: [], ["verify-otp", "nosuch"], in: scratch)
    #expect(run.code == 3 && run.output.contains("no such login waits"), "\(run.output)")
    #expect(!run.output.contains("Code"))
    #expect(owner.requests.last == #"verifyOtp {"otpFlowId":"nosuch","code":""}"#)
  }
}
