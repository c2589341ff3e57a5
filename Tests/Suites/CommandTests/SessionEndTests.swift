import BrokerProtocol
import TestSupport
import Testing

@testable import authbroker

/// `token --min-session`: a token of a session that lasts long enough, or code 3.
@Suite(.standardTimeLimit) struct SessionEndTests {
  private let scratch = Scratch()
  private static let password = #","login":[{"method":"password","fields":["email","password"]}]"#

  private static func after(_ seconds: Int64) -> String {
    Timestamp(milliseconds: LocalTime.now.milliseconds + seconds * 1000).description
  }

  private func run(_ words: [String], session members: String) throws -> (run: CommandRun, requests: [String]) {
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getSession":
        #""result":{"profile":"work","provider":"oidc","state":"authenticated"\#(members)}"#
      case "getIdToken": #""result":{"idToken":"made-up"}"#
      default: #""result":{"profile":"work","accessToken":"made-up","tokenType":"Bearer","expiresAt":null}"#
      }
    }
    return try withExtendedLifetime(owner) {
      (try CommandRun(["token", "-p", "work"] + words, in: scratch), owner.requests)
    }
  }

  @Test(arguments: [[], ["--id"], ["--json"]])
  func `a session that ends sooner has no token, and what to do is said`(_ words: [String]) throws {
    let members = #","refreshTokenPresent":true,"refreshTokenExpiresAt":"\#(Self.after(3600))""# + Self.password
    let (run, requests) = try run(words + ["--min-session", "7200"], session: members)
    #expect(run.code == 3 && !run.output.contains("made-up"), "\(run.output)")
    #expect(requests.last == #"getSession {"profile":"work"}"#, "\(requests)")
    #expect(run.errors.hasPrefix("authbroker: the session of work ends in 60 minutes ("), "\(run.errors)")
    #expect(
      run.errors.contains("), sooner than --min-session 7200 allows; begin a new one with: authbroker ")
        && run.errors.hasSuffix(" login --profile work\n"), "\(run.errors)")
  }

  @Test func `a session that lasts, one of an unknown end, and one that needs no user have their token`() throws {
    let soon = #","accessTokenExpiresAt":"\#(Self.after(60))""#
    for members in [
      #","refreshTokenPresent":true,"refreshTokenExpiresAt":"\#(Self.after(7300))""# + Self.password,
      #","refreshTokenPresent":true"# + soon + Self.password, soon + #","login":[]"#, soon,
      soon + #","login":[{"method":"clientCredentials","fields":[]}]"#, Self.password,
    ] {
      let (run, _) = try run(["--min-session", "7200"], session: members)
      #expect(run.code == 0 && run.output == "made-up\n" && run.errors.isEmpty, "\(members): \(run.errors)")
    }
  }

  @Test func `a user's session that cannot be refreshed ends with its token`() throws {
    let members = #","userId":"7","accessTokenExpiresAt":"\#(Self.after(60))""# + Self.password
    #expect(try run(["--min-session", "90"], session: members).run.code == 3)
    #expect(try run(["--min-session", "30"], session: members).run.code == 0)
  }

  @Test func `the session is not asked for otherwise`() throws {
    #expect(try run([], session: "").requests.allSatisfy { $0.hasPrefix("getAccessToken") })
    #expect(try run(["--min-session", "soon"], session: "").run.code == 2)
  }
}
