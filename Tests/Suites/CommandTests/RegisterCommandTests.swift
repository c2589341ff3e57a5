import TestSupport
import Testing

@testable import authbroker

/// `register`, and what is said of values that a provider does not take.
@Suite(.standardTimeLimit) struct RegisterCommandTests {
  private let scratch = Scratch()

  private static func session(_ provider: String) -> String {
    #"{"profile":"default","provider":"\#(provider)","state":"signedOut","scopes":[],"refreshTokenPresent":false}"#
  }

  /// An owner whose provider refuses some fields of every account.
  private func owner(_ provider: String, _ fields: String) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status(profiles: Self.session(provider))
      case "getSession": #""result":"# + Self.session(provider)
      default:
        #""error":{"code":1031,"message":"The provider rejected a value.","data":{"kind":"validationFailed","#
          + #""nextAction":"fixRequest","retryable":false,"profile":"default","fields":[\#(fields)]}}"#
      }
    }
  }

  private func register() throws -> CommandRun {
    try CommandRun(["register", "--email", "ada@example.com", "--password-stdin"], in: scratch, input: "x\n")
  }

  @Test func `a password that the embedded provider refuses is told with its rule`() throws {
    let owner = try owner("local", #""password""#)
    let run = try register()
    #expect(run.code == 1)
    #expect(
      run.errors == "authbroker: the provider does not accept the password: it must have at least 15 characters (8 "
        + "beside a second factor) and at most 1024 bytes, and be no common or predictable one, nor your name or "
        + "address\n")
    #expect(owner.requests.last == #"getSession {"profile":"default"}"#)
  }

  @Test func `another provider's rules are not known, and its fields are named`() throws {
    let owner = try owner("rest", #""password","phoneNumber","a\u001bb""#)
    let run = try register()
    #expect(run.code == 1)
    let text = "authbroker: the provider does not accept the password, the phone number and a?b; ask its "
    #expect(run.errors == text + "operator what it accepts\n", "\(run.errors)")
    #expect(owner.requests.count == 2)
  }

  @Test func `several fields are told each with what it must be`() throws {
    _ = try withExtendedLifetime(owner("local", #""email","password","name","phoneNumber""#)) {
      let errors = try register().errors
      for text in ["the e-mail address: ", "the password: it must", "the name: ", "the phone number: "] {
        #expect(errors.contains(text), "\(errors)")
      }
    }
  }

  @Test(arguments: [([], 15), (["--phone", "+491511234567"], 8)] as [([String], Int)])
  func `the rule is said before a password is asked for, where it is known`(
    _ options: [String], _ fewestCharacters: Int
  ) throws {
    let question = "Password (at least \(fewestCharacters) characters): "
    let (short, long) = (String(repeating: "x", count: fewestCharacters - 1), String(repeating: "x", count: 15))
    let steps = [(question, short), (question, long), ("Repeat the password: ", long)]
      .map { CommandRun.Step(question: $0.0, answer: $0.1 + "\n") }
    let owner = try owner("local", "")
    let run = try CommandRun(atTerminal: steps, ["register", "--email", "a@b.c"] + options, in: scratch)
    #expect(run.code == 1 && run.output.contains(question), "\(run.output)")
    let hint = "the password is too short; it needs at least \(fewestCharacters) characters\r\n"
    #expect(run.output.contains(hint), "\(run.output)")
    #expect(owner.requests.filter { $0.hasPrefix("register") }.count == 1)
  }

  @Test func `two passwords that differ are asked for again, three times in all`() throws {
    let owner = try owner("oidc", "")
    let pair: (String, String) -> [CommandRun.Step] = { first, second in
      [("Password: ", first), ("Repeat the password: ", second)].map { .init(question: $0.0, answer: $0.1 + "\n") }
    }
    let words = ["register", "--email", "a@b.c"]
    let good = try CommandRun(atTerminal: pair("a", "b") + pair("c", "c"), words, in: scratch)
    #expect(good.output.contains("the two passwords differ; try again"), "\(good.output)")
    #expect(owner.requests.filter { $0.hasPrefix("register") }.map { $0.contains(#""password":"c""#) } == [true])
    let bad = try CommandRun(atTerminal: pair("a", "b") + pair("a", "b") + pair("a", "b"), words, in: scratch)
    #expect(bad.code == 2 && bad.output.contains("differ; nothing was sent"), "\(bad.output)")
    #expect(owner.requests.filter { $0.hasPrefix("register") }.count == 1)
  }

  @Test func `an address is judged before a password is asked for, and asked for again`() throws {
    let steps = [
      CommandRun.Step(question: "E-mail address: ", answer: "ada\n"),
      .init(question: "E-mail address: ", answer: "\n"),
      .init(question: "E-mail address: ", answer: "ada@example.com\n"),
      .init(question: "Password", answer: "abcdefgh abcdefgh\n"),
      .init(question: "Repeat the password: ", answer: "abcdefgh abcdefgh\n"),
    ]
    let owner = try owner("local", "")
    let run = try CommandRun(atTerminal: steps, ["register"], in: scratch)
    #expect(run.output.contains("ada is not an e-mail address; give one such as ann@example.com\r\n"))
    #expect(owner.requests.filter { $0.hasPrefix("register") }.count == 1)
    #expect(owner.requests.contains { $0.contains(#""email":"ada@example.com""#) }, "\(owner.requests)")
  }

  @Test(arguments: ["ada", "@example.com", "ada@", "a b@c", ""])
  func `an option's value that is no address ends it before anything is asked or sent`(address: String) throws {
    let owner = try owner("local", #""password""#)
    let run = try CommandRun(["register", "--email", address, "--password-stdin"], in: scratch, input: "abcdefgh\n")
    #expect(run.code == 2 && run.errors.contains("not an e-mail address"), "\(run.errors)")
    #expect(!owner.requests.contains { $0.hasPrefix("register") })
  }
}
