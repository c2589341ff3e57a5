import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// `login` with a password: mistyped ones, sessions that are there already, and accounts that are not.
@Suite(.standardTimeLimit) struct PasswordLoginTests {
  private let scratch = Scratch()

  private static let refusal =
    #""error":{"code":1020,"message":"The e-mail address or the password is wrong.","data":{"kind":"invalidCredentials","#
    + #""nextAction":"login","retryable":false,"profile":"default"}}"#
  private static let loggedIn =
    #""result":{"status":"authenticated","session":{"profile":"default","provider":"oidc","state":"authenticated","#
    + #""scopes":[],"refreshTokenPresent":true}}"#

  private static func session(_ provider: String, _ state: String) -> String {
    #"{"profile":"default","provider":"\#(provider)","state":"\#(state)","user":{"id":"u","email":"ann@example.com"},"#
      + #""scopes":[],"refreshTokenPresent":false}"#
  }

  /// An owner that refuses the first passwords, on whose provider there are accounts or not.
  private func owner(
    refusals: Int, provider: String = "oidc", state: String = "signedOut", hasAccounts: Bool = true
  ) throws -> FakeOwner {
    let count = Mutex(0)
    let session = Self.session(provider, state)
    let level = hasAccounts ? "ok" : "note"
    return try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": return FakeOwner.status(profiles: session)
      case "getSession": return #""result":"# + session
      case "getAccessToken":
        return #""error":{"code":1001,"message":"The profile has no session.","data":{"kind":"loginRequired","#
          + #""nextAction":"login","retryable":false,"profile":"default"}}"#
      case "checkProvider":
        return #""result":{"profile":"default","provider":"\#(provider)","loginMethods":["password"],"findings":["#
          + #"{"check":"accounts","level":"\#(level)","message":"m"}],"trial":[]}"#
      case "login":
        let tries = count.withLock { count in
          count += 1
          return count
        }
        return tries <= refusals ? Self.refusal : Self.loggedIn
      default: return FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  private static let question = CommandRun.Step(question: "Password: ", answer: "x y z\n")
  private static let words = ["login", "--email", "ann@example.com"]

  @Test func `a mistyped password is asked for again at a terminal`() throws {
    let owner = try owner(refusals: 2)
    let run = try CommandRun(atTerminal: [Self.question, Self.question, Self.question], Self.words, in: scratch)
    #expect(run.code == 0, "\(run.output)")
    #expect(run.output.split(separator: "is wrong; try again").count == 3, "\(run.output)")
    #expect(owner.requests.filter { $0.hasPrefix("login") }.count == 3)
  }

  @Test func `an address that was typed is asked for again too, and Enter keeps it`() throws {
    let owner = try owner(refusals: 2)
    let steps: [CommandRun.Step] = [
      .init(question: "E-mail address: ", answer: "an@example.com\n"), Self.question,
      .init(question: "E-mail address [an@example.com]: ", answer: "ann@example.com\n"), Self.question,
      // A password in the wrong place is not sent as an address.
      .init(question: "E-mail address [ann@example.com]: ", answer: "wrong3\n"),
      .init(question: "E-mail address [ann@example.com]: ", answer: "\n"), Self.question,
    ]
    let run = try CommandRun(atTerminal: steps, ["login", "--method", "password"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    let sent = owner.requests.filter { $0.hasPrefix("login") }
    #expect(sent.map { $0.contains(#""email":"ann@example.com""#) } == [false, true, true], "\(sent)")
  }

  @Test(arguments: ["oidc", "local"])
  func `before its first question it has asked at most twice, on one connection`(provider: String) throws {
    let owner = try owner(refusals: 0, provider: provider)
    let steps = [.init(question: "E-mail address: ", answer: "ann@example.com\n"), Self.question]
    let run = try CommandRun(atTerminal: steps, ["login", "--method", "password"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    let methods = owner.requests.map { $0.prefix { $0 != " " } }
    #expect(methods == (provider == "local" ? ["getSession", "checkProvider", "login"] : ["getSession", "login"]))
    #expect(owner.guests == 1)
  }

  @Test func `after three wrong passwords it ends`() throws {
    let owner = try owner(refusals: 9)
    let run = try CommandRun(atTerminal: [Self.question, Self.question, Self.question], Self.words, in: scratch)
    #expect(run.code == 4, "\(run.output)")
    #expect(owner.requests.filter { $0.hasPrefix("login") }.count == 3)
  }

  @Test func `a password that nobody types is tried once`() throws {
    let owner = try owner(refusals: 9)
    let run = try CommandRun(Self.words + ["--password-stdin"], in: scratch, input: "x y z\n")
    #expect(run.code == 4)
    let command = try CommandRun(
      atTerminal: [], Self.words + ["--password-command", "echo x y z"], in: scratch)
    #expect(command.code == 4)
    #expect(owner.requests.filter { $0.hasPrefix("login") }.count == 2)
  }

  @Test func `a login over a living session says so first`() throws {
    let owner = try owner(refusals: 0, state: "authenticated")
    let run = try CommandRun(atTerminal: [Self.question], Self.words, in: scratch)
    #expect(run.code == 0)
    let notice = "already logged in to default as ann@example.com; a new login replaces that session"
    let parts = run.output.split(separator: notice)
    #expect(parts.count == 2 && !parts[0].contains("Password"), "\(run.output)")
    #expect(owner.requests.contains { $0.hasPrefix("login") })
  }

  @Test func `without an account, login and token name the command that makes one`() throws {
    let owner = try owner(refusals: 9, provider: "local", hasAccounts: false)
    let advice = "no account exists here yet; create one with: authbroker --state \(scratch.file("state")) register"
    let person = try CommandRun(atTerminal: [], ["login", "--method", "password"], in: scratch)
    #expect(person.code == 4 && person.output.contains(advice), "\(person.output)")
    #expect(!person.output.contains("E-mail address"))
    let script = try CommandRun(Self.words + ["--password-stdin"], in: scratch, input: "x y z\n")
    #expect(script.code == 4 && script.errors == "authbroker: \(advice)\n", "\(script.errors)")
    let token = try CommandRun(["token"], in: scratch)
    #expect(token.code == 3 && token.errors == "authbroker: \(advice)\n", "\(token.errors)")
    #expect(owner.requests.filter { $0.hasPrefix("login") }.count == 1)
  }

  @Test(arguments: [("local", true), ("oidc", false)])
  func `where there are accounts, or another provider has them, the advice is to log in`(
    provider: String, hasAccounts: Bool
  ) throws {
    let owner = try owner(refusals: 9, provider: provider, hasAccounts: hasAccounts)
    let token = try CommandRun(["token"], in: scratch)
    #expect(
      token.code == 3 && token.errors.hasSuffix("login\n") && !token.errors.contains("register"), "\(token.errors)")
    #expect(owner.requests.contains { $0.hasPrefix("checkProvider") } == (provider == "local"))
  }
}
