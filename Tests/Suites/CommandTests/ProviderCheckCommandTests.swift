import BrokerProtocol
import JSON
import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// `provider-check`, at a broker that answers as a test says.
@Suite(.standardTimeLimit) struct ProviderCheckCommandTests {
  private let scratch = Scratch()

  private static let words = ["provider-check", "--login", "--email", "ada@example.com", "--password-stdin"]
  private static let well = #"{"check":"reachable","level":"ok","message":"id.example answers"}"#

  private static func check(_ findings: String...) -> String {
    #""result":{"profile":"work","provider":"oidc","loginMethods":["password","deviceCode"],"#
      + #""methods":["awaitLogin","getCurrentUser"],"findings":["#
      + findings.joined(separator: ",")
      + #"],"trial":[{"check":"login","level":"note","message":"the credentials are accepted"},"#
      + #"{"check":"reuse","level":"note","message":"it is refused","advice":"only with --reuse"}]}"#
  }

  private static func failure(_ check: String, _ kind: String? = nil) -> String {
    let kind = kind.map { #","errorKind":"\#($0)""# } ?? ""
    return #"{"check":"\#(check)","level":"failure","message":"It fails.","advice":"Do this."\#(kind)}"#
  }

  private static func state(_ findings: String = "", _ waitsFor: String = #""provider""#) -> String {
    #""result":{"trialId":"t1","findings":[\#(findings)],"waitsFor":\#(waitsFor)}"#
  }

  /// A broker that answers a look in one way, and the calls of a trial in order; the last answer stays.
  private func owner(_ check: String, trial: [String] = []) throws -> FakeOwner {
    let left = Mutex(trial)
    return try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status()
      case "checkProvider": check
      case "tryProvider", "continueTrial":
        left.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? FakeOwner.refusal(1025, "flowNotFound", "No.") }
      default: FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  @Test func `a trial asks for a phone number where the profile's login takes one`() throws {
    let owner = try FakeOwner(in: scratch) { method, params in
      switch method {
      case "getStatus": FakeOwner.status()
      case "checkProvider": Self.check(Self.well)
      case "getSession":
        #""result":{"profile":"work","provider":"rest","state":"signedOut","scopes":[],"refreshTokenPresent":false,"#
          + #""login":[{"method":"password","fields":["phoneNumber","password"]}]}"#
      case "tryProvider" where params?["password"] == nil: FakeOwner.refusal(1001, "missingCredential", "No.")
      case "tryProvider": Self.state(Self.well, #""nothing""#)
      default: FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
    let steps = [("Phone number: ", "+15550100\n"), ("Password: ", "x y\n")].map {
      CommandRun.Step(question: $0, answer: $1)
    }
    let run = try CommandRun(atTerminal: steps, ["provider-check", "--login"], in: scratch)
    #expect(run.code == 0 && !run.output.contains("E-mail"), "\(run.output)")
    let sent = owner.requests.last { $0.hasPrefix("tryProvider") } ?? ""
    #expect(sent.contains(#""phoneNumber":"+15550100""#) && !sent.contains("email"), "\(sent)")
  }

  private func methods(_ owner: FakeOwner) -> [String] {
    owner.requests.map { String($0.prefix { $0 != " " }) }.filter { $0 != "getStatus" }
  }

  @Test func `without --login nothing is asked for but a look, and the rest is announced`() throws {
    let warning = #"{"check":"pkce","level":"warning","message":"It\u001b does not.","advice":"Ask."}"#
    let owner = try owner(Self.check(Self.well, warning))
    let run = try CommandRun(["provider-check", "work"], in: scratch)
    #expect(run.code == 0, "\(run.output)\(run.errors)")
    #expect(owner.requests == [#"checkProvider {"profile":"work"}"#])
    for line in [
      "Profile work, provider oidc\n", " ok reachable id.example answers\n", " → ask\n",
      "\nIt supports: awaitLogin, getCurrentUser\n",
      "With --login it would be shown that\n login the credentials are accepted\n",
      " reuse it is refused (only with --reuse)\n", "\n1 warning\nto try it (--email ADDRESS, --method deviceCode): ",
    ] { #expect(run.words.contains(line), "\(line) in \(run.words)") }
    #expect(run.output.contains("provider-check work --login") && !run.output.contains("\u{1B}"))
  }

  @Test(
    arguments: [
      ([failure("reachable", "networkUnavailable")], 5), ([failure("reachable", "tlsFailed")], 5),
      ([failure("issuer", "invalidResponse")], 1), ([failure("path.currentUser")], 1),
      ([failure("reachable", "timeout"), failure("issuer", "invalidResponse")], 1),
      ([failure("x", "aKindOfLater")], 1),
    ] as [([String], Int32)])
  func `a failure decides the exit code`(_ findings: [String], _ code: Int32) throws {
    let owner = try owner(Self.check(findings[0], findings.count > 1 ? findings[1] : Self.well))
    let run = try CommandRun(["provider-check", "work"], in: scratch)
    #expect(run.code == code && run.words.contains(" failure "), "\(run.output)\(run.errors)")
    #expect(run.errors.isEmpty && owner.requests.count == 1)
  }

  @Test func `a provider that cannot be used is not tried, and no password is asked for`() throws {
    let owner = try owner(Self.check(Self.failure("issuer", "invalidResponse")))
    let run = try CommandRun(["provider-check", "--login"], in: scratch)
    let text = "\nfix the failures above before trying a login\n"
    #expect(run.code == 1 && run.output.contains(text), "\(run.output)\(run.errors)")
    #expect(methods(owner) == ["checkProvider"])
  }

  @Test func `a trial is followed to its end, line by line`() throws {
    let login = #"{"check":"login","level":"ok","message":"a session"}"#
    let logout = #"{"check":"logout","level":"warning","message":"No way.","advice":"Wait."}"#
    let owner = try owner(
      Self.check(Self.well), trial: [Self.state(), Self.state(login), Self.state(), Self.state(logout, #""nothing""#)])
    let run = try CommandRun(Self.words + ["--wrong-password", "--reuse"], in: scratch, input: "made-up\n")
    #expect(run.code == 0, "\(run.output)\(run.errors)")
    #expect(run.words.contains(" ok login a session\n") && run.words.contains(" warning logout no way\n"))
    #expect(run.output.hasSuffix("\n1 warning\n"))
    #expect(methods(owner) == ["checkProvider", "tryProvider"] + Array(repeating: "continueTrial", count: 3))
    let begin = owner.requests.first { $0.hasPrefix("tryProvider") } ?? ""
    for member in [
      #""method":"password""#, #""email":"ada@example.com""#, #""password":"made-up""#, #""wrongPassword":true"#,
      #""reuse":true"#,
    ] { #expect(begin.contains(member), "\(begin)") }
    #expect(owner.requests.last == #"continueTrial {"trialId":"t1","timeoutSeconds":0.5}"#)
  }

  @Test func `wrong credentials end with code 4, and programs get everything at once`() throws {
    let end = Self.state(Self.failure("login", "invalidCredentials"), #""nothing""#)
    let owner = try owner(Self.check(Self.well), trial: [Self.state(), end])
    let run = try CommandRun(Self.words + ["--json"], in: scratch, input: "made-up\n")
    #expect(run.code == 4, "\(run.output)\(run.errors)")
    let root = try JSONDocument(parsing: Array(run.output.utf8)).root
    #expect(try !root.required("ok").bool() && root.required("exitCode").integer() == 4)
    #expect(try root.required("methods").elements().map { try $0.string() } == ["awaitLogin", "getCurrentUser"])
    #expect(try root.required("tried").bool() && root.required("findings").elements().count == 1)
    #expect(try root.required("trial").elements().first?["errorKind"]?.string() == "invalidCredentials")
    #expect(methods(owner).count == 3)
  }

  @Test func `a code that nobody can be asked for ends the trial, its session first`() throws {
    let challenge =
      #""code","challenge":{"otpFlowId":"t1","profile":"work","method":"sms","maskedDestination":"••12","#
      + #""otpLength":6,"expiresAt":"2099-01-01T00:00:00Z","nextResendAt":"2099-01-01T00:00:00Z","#
      + #""attemptsRemaining":5,"backupCodesAllowed":false}"#
    let owner = try owner(
      Self.check(Self.well),
      trial: [Self.state(), Self.state("", challenge), Self.state("", #""nothing""#)])
    let run = try CommandRun(Self.words, in: scratch, input: "made-up\n")
    #expect(run.code == 2 && run.errors.contains("a one-time code is wanted"), "\(run.output)\(run.errors)")
    #expect(owner.requests.last == #"continueTrial {"trialId":"t1","stop":true,"timeoutSeconds":0.5}"#)
  }

  private static let action =
    #""user","action":{"loginFlowId":"t1","profile":"work","kind":"deviceCode","verificationUri":"https://id.example/d","#
    + #""userCode":"ABCD","expiresAt":"2099-01-01T00:00:00Z","intervalSeconds":5}"#

  @Test(arguments: ["device", "browser"])
  func `what nobody does elsewhere in the time of --timeout ends the trial, with the code that login has`(
    _ method: String
  ) throws {
    let owner = try FakeOwner(in: scratch) { method, params in
      switch method {
      case "getStatus": FakeOwner.status()
      case "checkProvider": Self.check(Self.well)
      default: (try? params?["stop"]?.bool()) == true ? Self.state("", #""nothing""#) : Self.state("", Self.action)
      }
    }
    let words = ["provider-check", "--login", "--method", method, "--timeout", "0.2"]
    let run = try CommandRun(words, in: scratch)
    #expect(run.code == 3 && run.output.contains("\nnot finished in time\n"), "\(run.output)\(run.errors)")
    #expect(run.errors.contains("the login was not finished within 0.2 s (--timeout)"), "\(run.errors)")
    let calls = methods(owner)
    #expect(calls.prefix(2) == ["checkProvider", "tryProvider"] && calls.count > 3)
    #expect(owner.requests.last == #"continueTrial {"trialId":"t1","stop":true,"timeoutSeconds":0.5}"#)
    #expect(owner.requests.count { $0.contains("\"stop\"") } == 1)
    let json = try CommandRun(words + ["--json"], in: scratch)
    #expect(try JSONDocument(parsing: Array(json.output.utf8)).root.required("exitCode").integer() == 3)
  }

  @Test func `--timeout bounds no trial that waits for the provider alone`() throws {
    let login = #"{"check":"login","level":"ok","message":"a session"}"#
    let end = Self.state("", #""nothing""#)
    let owner = try owner(Self.check(Self.well), trial: [Self.state(), Self.state(login), end])
    let run = try CommandRun(Self.words + ["--timeout", "20"], in: scratch, input: "made-up\n")
    #expect(run.code == 0, "\(run.output)\(run.errors)")
    #expect(!owner.requests.contains { $0.contains("\"stop\"") })
  }

  @Test(arguments: [(["provider-check", "--login", "--method", "device"], 3), (words, 4)] as [([String], Int32)])
  func `a login elsewhere whose own time is over is no wrong code`(_ words: [String], _ code: Int32) throws {
    let first = Self.state("", code == 3 ? Self.action : #""provider""#)
    let late = Self.state(Self.failure("login", "otpExpired"), #""nothing""#)
    let owner = try owner(Self.check(Self.well), trial: [first, late])
    let run = try CommandRun(words, in: scratch, input: "made-up\n")
    #expect(run.code == code && run.output.contains("\n1 failure\n"), "\(run.output)\(run.errors)")
    #expect(methods(owner) == ["checkProvider", "tryProvider", "continueTrial"])
  }

  @Test func `at a terminal a code can be sent again, and a backup code entered`() throws {
    let challenge =
      #""code","challenge":{"otpFlowId":"t1","profile":"work","method":"totp","maskedDestination":"","otpLength":6,"#
      + #""expiresAt":"2099-01-01T00:00:00Z","nextResendAt":"2099-01-01T00:00:00Z","attemptsRemaining":5,"#
      + #""backupCodesAllowed":true}"#
    let waiting = Self.state("", challenge)
    let owner = try owner(
      Self.check(Self.well), trial: [waiting, waiting, waiting, Self.state("", #""nothing""#)])
    let code = "Code or backup code: "
    let steps = [
      ("Password: ", "made-up\n"), (code, "\n"), (code, "r\n"), (code, "123456\n"), (code, "word-word\n"),
    ]
    let run = try CommandRun(
      atTerminal: steps.map { CommandRun.Step(question: $0.0, answer: $0.1) },
      ["provider-check", "--login", "--email", "ada@example.com"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    let answers = owner.requests.filter { $0.hasPrefix("continueTrial") }.map { $0.dropFirst(13 + 1) }
    #expect(
      answers == [
        #"{"trialId":"t1","resend":true,"timeoutSeconds":0.5}"#,
        #"{"trialId":"t1","code":"123456","timeoutSeconds":0.5}"#,
        #"{"trialId":"t1","backupCode":"word-word","timeoutSeconds":0.5}"#,
      ])
    #expect(!run.output.contains("123456") && !run.output.contains("word-word"), "\(run.output)")
  }

  @Test func `without a password option the provider's own way is taken`() throws {
    let owner = try owner(Self.check(Self.well), trial: [Self.state("", #""nothing""#)])
    let run = try CommandRun(["provider-check", "work", "--login"], in: scratch)
    #expect(run.code == 0, "\(run.errors)")
    #expect(owner.requests.last == #"tryProvider {"profile":"work"}"#)
    for (name, method) in [("device", "deviceCode"), ("browser", "browser"), ("client", "clientCredentials")] {
      #expect(try CommandRun(["provider-check", "--login", "--method", name], in: scratch).code == 0)
      #expect(owner.requests.last == #"tryProvider {"method":"\#(method)"}"#)
    }
  }

  @Test func `where a password is wanted and nobody can be asked, that is said`() throws {
    let missing = FakeOwner.refusal(1021, "missingCredential", "It needs one.")
    let owner = try owner(Self.check(Self.well), trial: [missing])
    let run = try CommandRun(["provider-check", "--login"], in: scratch)
    #expect(run.code == 2 && run.errors.contains("give --email"), "\(run.errors)")
    #expect(methods(owner) == ["checkProvider", "tryProvider", "getSession"])
  }

  @Test(arguments: [
    ["--email", "a"], ["--reuse"], ["--login", "--method", "magic"], ["--login", "--method", "device", "--email", "a"],
    ["No Name"], ["work", "--profile", "other"], ["a", "b"],
  ])
  func `a command line that cannot be followed is refused before anybody is asked`(_ words: [String]) throws {
    let owner = try owner(Self.check(Self.well))
    #expect(try CommandRun(["provider-check"] + words, in: scratch).code == 2)
    #expect(methods(owner).isEmpty)
  }

  @Test func `a broker that is too old, and a profile that is not there, are told as such`() throws {
    let old = try owner(FakeOwner.refusal(-32601, "methodNotFound", "No."))
    let run = try CommandRun(["provider-check"], in: scratch)
    let text = "of an earlier version, which cannot do this; restart it with: authbroker"
    #expect(run.code == 2 && run.errors.contains(text), "\(run.errors)")
    #expect(methods(old) == ["checkProvider"])
  }
}
