import TestSupport
import Testing

@testable import authbroker

/// `provider-check`, at a broker that answers as a test says.
struct ProviderCheckCommandTests {
  private let scratch = Scratch()

  private static let reached =
    #""result":{"providers":[{"profile":"default","provider":"oidc","reachable":true,"host":"id.example","tls":true,"#
    + #""roundTripSeconds":0.01,"message":"It answers."}]}"#
  private static let words = ["provider-check", "--login", "--email", "ada@example.com", "--password-stdin"]

  /// A broker whose profile has no session, unless `state` says otherwise, and that answers a login.
  private func owner(_ login: String, state: String = "signedOut") throws -> FakeOwner {
    try FakeOwner(in: scratch, providers: Self.reached) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status()
      case "getSession":
        #""result":{"profile":"default","provider":"oidc","state":"\#(state)","scopes":[],"refreshTokenPresent":false}"#
      case "login": login
      case "cancelLogin": #""result":{}"#
      default: FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  private func methods(_ owner: FakeOwner) -> [String] {
    owner.requests.map { String($0.prefix { $0 != " " }) }.filter { $0 != "getStatus" }
  }

  @Test func `without --login nothing is sent but the question whether it is there`() throws {
    let owner = try owner("")
    let run = try CommandRun(["provider-check"], in: scratch)
    #expect(run.code == 0 && run.output.contains("id.example answers over TLS"), "\(run.output)\(run.errors)")
    #expect(methods(owner) == ["checkProviders"])
  }

  @Test(
    arguments: [
      (
        #""status":"otpRequired","challenge":{"otpFlowId":"f1","profile":"default","method":"sms","#
          + #""maskedDestination":"••12","otpLength":6,"expiresAt":"2099-01-01T00:00:00Z","#
          + #""nextResendAt":"2099-01-01T00:00:00Z","attemptsRemaining":5,"backupCodesAllowed":false}"#,
        #"cancelLogin {"otpFlowId":"f1"}"#
      ),
      (
        #""status":"userActionRequired","action":{"loginFlowId":"f2","profile":"default","kind":"browser","#
          + #""verificationUri":"https://id.example/","expiresAt":"2099-01-01T00:00:00Z"}"#,
        #"cancelLogin {"loginFlowId":"f2"}"#
      ),
    ])
  func `a login that nobody goes on with is taken back`(_ result: String, _ last: String) throws {
    let owner = try owner(#""result":{\#(result)}"#)
    let run = try CommandRun(Self.words, in: scratch, input: "made-up\n")
    #expect(run.output.contains("this goes no further"), "\(run.output)\(run.errors)")
    #expect(methods(owner) == ["checkProviders", "getSession", "login", "cancelLogin"])
    #expect(owner.requests.last == last)
  }

  @Test func `a profile with a session is left alone`() throws {
    let owner = try owner("", state: "authenticated")
    let run = try CommandRun(Self.words, in: scratch, input: "made-up\n")
    #expect(run.code == 1 && run.errors.contains("has a session"), "\(run.errors)")
    #expect(methods(owner) == ["checkProviders", "getSession"])
  }
}
