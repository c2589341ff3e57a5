import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// Logins with a refresh token that another program has obtained: `login --method refreshToken` and `import json`.
@Suite(.standardTimeLimit) struct RefreshTokenLoginTests {
  private let scratch = Scratch()

  private static let token = "made-up~refresh/token+1="
  private static let login = ["login", "--method", "refreshToken", "--refresh-token-stdin"]
  private static let importing = ["import", "json"]

  private static func session(_ state: String, user: String = "") -> String {
    let user = user.isEmpty ? "" : #""userId":"\#(user)","user":{"id":"\#(user)","email":"\#(user)@example.com"},"#
    return #""profile":"default","provider":"oidc","state":"\#(state)",\#(user)"scopes":[],"refreshTokenPresent":true"#
  }

  /// An owner whose profile is in a state, and has the session of `ada` after a login.
  private func owner(_ state: String = "signedOut", user: String = "") throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getSession": #""result":{\#(Self.session(state, user: user)),"login":[]}"#
      case "login": #""result":{"status":"authenticated","session":{\#(Self.session("authenticated", user: "ada"))}}"#
      default: FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  private func logins(_ owner: FakeOwner) -> [String] { owner.requests.filter { $0.hasPrefix("login ") } }

  @Test(arguments: [
    (login, token + "\n", ""), (login, token, ""), (login, token + "\r\n", ""),
    (["login", "--refresh-token-stdin", "--scope", "a b"], token + "\n", #","scopes":["a","b"]"#),
    (importing, #"{"refreshToken":"\#(token)"}"#, ""),
    (importing, #"{ "refreshToken": "\#(token)", "scopes": ["a", "b"] }"# + "\n", #","scopes":["a","b"]"#),
    (
      importing, #"{"refreshToken":"\#(token)","accessToken":"t","expiresAt":"2026-01-01T00:00:00Z","scopes":null}"#, ""
    ),
  ])
  func `the token is sent once, and its other copy is said to end`(words: [String], input: String, more: String) throws
  {
    let owner = try owner()
    let run = try CommandRun(words, in: scratch, input: input)
    #expect(run.code == 0 && run.output.isEmpty, "\(run.errors)")
    #expect(logins(owner) == [#"login {"method":"refreshToken","refreshToken":"\#(Self.token)"\#(more)}"#])
    #expect(run.errors.contains("the other program's copy is no longer valid"), "\(run.errors)")
    #expect(run.errors.hasSuffix("authbroker: logged in to default as ada@example.com\n"), "\(run.errors)")
    #expect(!run.errors.contains(Self.token))
  }

  @Test(arguments: [login, importing])
  func `a session that is replaced is said, and another user once more`(words: [String]) throws {
    let input = words == Self.login ? Self.token : #"{"refreshToken":"\#(Self.token)"}"#
    let other = try withExtendedLifetime(owner("authenticated", user: "bob")) {
      try CommandRun(words, in: scratch, input: input)
    }
    #expect(other.code == 0 && other.errors.contains("already logged in to default as bob@example.com"), "\(other)")
    #expect(
      other.errors.hasSuffix(
        "authbroker: logged in to default as ada@example.com\n"
          + "authbroker: this is another user than before: the session was bob@example.com's\n"), "\(other.errors)")
    let same = try withExtendedLifetime(owner("authenticated", user: "ada")) {
      try CommandRun(words, in: scratch, input: input)
    }
    #expect(same.code == 0 && same.errors.hasSuffix("logged in to default as ada@example.com\n"), "\(same.errors)")
  }

  private static let large = String(repeating: "x", count: 1 << 20)
  private static let badInput: [([String], String, String)] = [
    (login, "", "no line to read the refresh token from"), (login, "\n", "the refresh token is empty"),
    (login, "a b\n", "has a blank"), (login, " a\n", "has a blank"), (login, "a\tb\n", "has a blank"),
    (login, "a\u{E9}\n", "has a blank"), (login, "a\nb\n", "more than one line"),
    (login, large, "has 64 KiB or more"), (importing, "", "standard input is empty"),
    (importing, "made-up", "is not JSON"), (importing, "[]", "standard input must be an object"),
    (importing, "{}", "refreshToken must be present"), (importing, #"{"refreshToken":7}"#, "must be a string"),
    (importing, #"{"refreshToken":""}"#, "refreshToken must be a refresh token"),
    (importing, #"{"refreshToken":"a b"}"#, "without blanks"),
    (importing, #"{"refreshToken":"a\n"}"#, "without blanks"),
    (importing, #"{"refresh_token":"x"}"#, "did you mean refreshToken?"),
    (importing, #"{"refreshToken":"x","client":"y"}"#, "unknown member client; use refreshToken, accessToken"),
    (importing, #"{"refreshToken":"x","\#(String(repeating: "y", count: 40))":1}"#, "has an unknown member"),
    (importing, #"{"refreshToken":"x","refreshToken":"y"}"#, "names a member twice"),
    (importing, #"{"refreshToken":"x"} {}"#, "something follows the value"),
    (importing, #"{"refreshToken":"x","scopes":"a b"}"#, "scopes must be an array"),
    (importing, #"{"refreshToken":"x","expiresAt":1}"#, "expiresAt must be"),
    (importing, #"{"refreshToken":"x","accessToken":[]}"#, "accessToken must be a string"),
    (importing, large, "longer than 256 KiB"),
    (importing, #"{"refreshToken":"\#(String(repeating: "x", count: 70_000))"}"#, "at most 65536 bytes"),
  ]

  @Test(arguments: badInput)
  func `what cannot be a token is refused, and nothing is asked`(words: [String], input: String, told: String) throws {
    let owner = try owner()
    let run = try CommandRun(words, in: scratch, input: input)
    #expect(run.code == 2 && run.output.isEmpty && run.errors.contains(told), "\(run.errors.prefix(300))")
    #expect(run.errors.utf8.count < 300 && !run.errors.contains("yyyy") && !run.errors.contains("xxxx"))
    #expect(owner.guests == 0)
  }

  @Test func `a terminal is asked without echo, and never read as a file`() throws {
    let owner = try owner()
    let steps = [CommandRun.Step(question: "Refresh token: ", answer: Self.token + "\n")]
    let asked = try CommandRun(atTerminal: steps, ["login", "--method", "refreshToken"], in: scratch)
    #expect(asked.code == 0 && !asked.output.contains(Self.token), "\(asked.output)")
    #expect(logins(owner).count == 1)
    for words in [Self.login, Self.importing] {
      let run = try CommandRun(atTerminal: [], words, in: scratch)
      #expect(run.code == 2 && run.output.contains("standard input is a terminal"), "\(run.output)")
    }
    let nobody = try CommandRun(["login", "--method", "refreshToken"], in: scratch)
    #expect(nobody.code == 2 && nobody.errors.contains("use --refresh-token-stdin"), "\(nobody.errors)")
    #expect(logins(owner).count == 1)
  }

  @Test(arguments: [
    ["--method", "password"], ["--method", "browser"], ["--email", "a@b.c"], ["--flow", "f"], ["--password-stdin"],
    ["a-token"],
  ])
  func `other credentials do not go with it`(words: [String]) throws {
    let owner = try owner()
    let run = try CommandRun(["login", "--refresh-token-stdin"] + words, in: scratch, input: Self.token)
    #expect(run.code == 2 && !run.errors.contains("a-token"), "\(run.errors)")
    #expect(owner.guests == 0)
  }

  @Test func `a refusal of the provider keeps its words and its code`() throws {
    let text = "The provider rejected the refresh token: it is invalid, was used before or has expired."
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "login"
        ? FakeOwner.refusal(1020, "invalidCredentials", text)
        : #""result":{\#(Self.session("signedOut")),"login":[]}"#
    }
    let run = try CommandRun(Self.importing, in: scratch, input: #"{"refreshToken":"\#(Self.token)"}"#)
    #expect(run.code == 4 && run.errors.contains("the provider rejected the refresh token: it is invalid"), "\(run)")
    #expect(logins(owner).count == 1 && !run.errors.contains(Self.token))
  }
}
