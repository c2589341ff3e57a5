import JSON
import TestSupport
import Testing

/// Logins ask for what the profile's provider takes.
@Suite(.standardTimeLimit) struct LoginFormTests {
  private let scratch = Scratch()

  /// An owner whose provider has some ways to log in, and takes whatever is sent.
  private func owner(_ forms: String) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status()
      case "getSession":
        #""result":{"profile":"default","provider":"rest","state":"signedOut","scopes":[],"refreshTokenPresent":false,"#
          + #""login":[\#(forms)]}"#
      default: LoginCommandTests.session
      }
    }
  }

  private func logIn(_ question: String, _ answer: String) throws -> CommandRun {
    let steps = [(question, answer), ("Password: ", "x y")].map { CommandRun.Step(question: $0, answer: $1 + "\n") }
    return try CommandRun(atTerminal: steps, ["login"], in: scratch)
  }

  @Test func `where a login takes a password, it is asked for before anything is sent`() throws {
    let owner = try owner(
      #"{"method":"password","fields":["email","password"]},{"method":"refreshToken","fields":["refreshToken"]}"#)
    let run = try logIn("E-mail address: ", "ada@example.com")
    #expect(run.code == 0, "\(run.output)")
    let logins = owner.requests.filter { $0.hasPrefix("login") }
    #expect(logins == [#"login {"email":"ada@example.com","password":"x y"}"#])
  }

  @Test(arguments: [[], ["--method", "browser"], ["--password-stdin"], ["--email", "a@b.c", "--password-stdin"]])
  func `where no login is needed, the command to run instead is named, and nothing is asked for`(words: [String]) throws
  {
    for (profile, action, advice) in [
      ("work", "fixRequest", "get a token with: authbroker --state \(scratch.file("state")) token --profile work"),
      ("sso", "login", "log in with: authbroker --state \(scratch.file("state")) login --profile sso"),
    ] {
      let owner = try FakeOwner(in: scratch) { method, _ in
        guard method == "login" else {
          return #""result":{"profile":"work","provider":"oidc","state":"signedOut","scopes":[],"#
            + #""refreshTokenPresent":false,"login":[]}"#
        }
        return #""error":{"code":1050,"message":"Not here.","data":{"kind":"unsupportedByProvider","#
          + #""nextAction":"\#(action)","retryable":false,"profile":"\#(profile)"}}"#
      }
      let run = try CommandRun(["login"] + words, in: scratch, input: "x\n")
      #expect(run.code != 0 && run.errors == "authbroker: not here; \(advice)\n", "\(run)")
      #expect(owner.requests.last?.hasPrefix("login") == true, "\(owner.requests)")
    }
  }

  @Test(
    arguments: [
      (["TERM": "xterm"], "deviceCode"), (["SSH_CONNECTION": "1", "DISPLAY": ":0"], "deviceCode"),
      (["DISPLAY": ":0"], nil), (["WAYLAND_DISPLAY": "w"], nil),
      (["BROWSER": "/bin/true", "SSH_CONNECTION": "1"], nil),
    ] as [([String: String], String?)])
  func `another device is taken where no browser can be opened`(environment: [String: String], method: String?) throws {
    let owner = try owner(#"{"method":"browser","fields":[]},{"method":"deviceCode","fields":[]}"#)
    let run = try CommandRun(["login"], in: scratch, environment: environment)
    #expect(run.code == 0, "\(run.errors)")
    #expect(owner.requests.last == (method.map { #"login {"method":"\#($0)"}"# } ?? "login {}"))
    let chosen = try CommandRun(["login", "--method", "browser"], in: scratch, environment: environment)
    #expect(chosen.code == 0 && owner.requests.last == #"login {"method":"browser"}"#, "\(chosen.errors)")
  }

  @Test func `where another device turns out not to be supported, the browser is taken`() throws {
    let owner = try FakeOwner(in: scratch) { method, params in
      switch method {
      case "getStatus": FakeOwner.status()
      case "getSession":
        #""result":{"profile":"default","provider":"oidc","state":"signedOut","scopes":[],"refreshTokenPresent":false,"#
          + #""login":[{"method":"browser","fields":[]},{"method":"deviceCode","fields":[]}]}"#
      default:
        params?["method"] == nil
          ? LoginCommandTests.session : FakeOwner.refusal(1050, "unsupportedByProvider", "Not here.")
      }
    }
    let run = try CommandRun(["login"], in: scratch)
    #expect(run.code == 0 && owner.requests.last == "login {}", "\(run.errors) \(owner.requests)")
  }

  @Test(arguments: [(1044, "providerRejected"), (1085, "configInvalid"), (1040, "networkUnavailable")])
  func `any other refusal at another device is shown, and changes no method`(code: Int, kind: String) throws {
    let owner = try FakeOwner(in: scratch) { method, params in
      switch method {
      case "getSession":
        #""result":{"profile":"default","provider":"oidc","state":"signedOut","scopes":[],"refreshTokenPresent":false,"#
          + #""login":[{"method":"browser","fields":[]},{"method":"deviceCode","fields":[]}]}"#
      default: FakeOwner.refusal(code, kind, "The provider rejected the client; check clientId in the configuration.")
      }
    }
    let run = try CommandRun(["login"], in: scratch)
    #expect(run.code != 0 && run.errors.contains("check clientId in the configuration"), "\(run.errors)")
    #expect(run.errors.contains("--method browser") == (kind != "networkUnavailable"), "\(run.errors)")
    #expect(owner.requests == ["getSession {}", #"login {"method":"deviceCode"}"#])
  }

  @Test func `where a login takes a phone number, that is asked for and no address`() throws {
    let owner = try owner(#"{"method":"password","fields":["phoneNumber","password"]}"#)
    let run = try logIn("Phone number: ", "+15550100")
    #expect(run.code == 0 && !run.output.contains("E-mail"), "\(run.output)")
    #expect(owner.requests.last == #"login {"password":"x y","phoneNumber":"+15550100"}"#)
    _ = try CommandRun(["login", "--phone", "1", "--password-stdin"], in: scratch, input: "x y\n")
    #expect(owner.requests.last == #"login {"password":"x y","phoneNumber":"1"}"#)
  }
}
