import JSON
import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// Values that a provider refuses, which a person at a terminal corrects.
@Suite(.standardTimeLimit) struct CorrectionTests {
  private let scratch = Scratch()

  private static func session(_ factor: String) -> String {
    let user = factor.isEmpty ? "" : #","user":{"id":"u","twoFactor":"\#(factor)"}"#
    return
      #"{"profile":"default","provider":"local","state":"authenticated"\#(user),"scopes":[],"#
      + #""refreshTokenPresent":false}"#
  }

  private static func refusal(_ fields: String) -> String {
    #""error":{"code":1031,"message":"The provider rejected a value.","data":{"kind":"validationFailed","#
      + #""nextAction":"fixRequest","retryable":false,"profile":"default","fields":[\#(fields)]}}"#
  }

  private static let user =
    #""result":{"id":"u-1","email":"a@b.c","emailVerified":false,"twoFactor":"off","disabled":false,"#
    + #""createdAt":"2099-01-01T00:00:00Z","sessions":0}"#

  /// An owner whose provider refuses values one time after the other, and then takes everything.
  private func owner(refusing refusals: [String], factor: String = "") throws -> FakeOwner {
    let left = Mutex(refusals[...])
    return try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getStatus": return FakeOwner.status(profiles: Self.session(factor))
      case "getSession": return #""result":"# + Self.session(factor)
      case "initialize", "checkProvider": return FakeOwner.refusal(-32601, "methodNotFound", "No.")
      default: break
      }
      if let fields = left.withLock({ $0.popFirst() }) { return Self.refusal(fields) }
      switch method {
      case "register": return #""result":{"status":"authenticated","session":\#(Self.session(factor))}"#
      case "addLocalUser": return Self.user
      default: return #""result":{}"#
      }
    }
  }

  /// How often something was asked.
  private static func count(_ question: String, in output: String) -> Int {
    output.split(separator: question, omittingEmptySubsequences: false).count - 1
  }

  private static func steps(_ typed: (String, String)...) -> [CommandRun.Step] {
    typed.map { CommandRun.Step(question: $0.0, answer: $0.1 + "\n") }
  }

  private static let first = steps(
    ("E-mail address: ", "a@b.c"), ("Password (at least ", "a long new word"),
    ("Repeat the password: ", "a long new word"))
  private static let words = ["register", "--name", "N", "--phone", "+1"]

  @Test func `register asks again for a password that is refused, and for nothing else`() throws {
    let owner = try owner(refusing: [#""password""#, #""password""#])
    let again = Self.steps(
      ("Password (at least ", "a long new word 2"), ("Repeat the password: ", "a long new word 2"),
      ("Password (at least ", "a long new word 3"), ("Repeat the password: ", "a long new word 3"))
    let run = try CommandRun(atTerminal: Self.first + again, ["register"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    #expect(run.output.split(separator: "does not accept the password: it must have at least 15").count == 3)
    #expect(Self.count("E-mail address: ", in: run.output) == 1, "\(run.output)")
    let sent = owner.requests.filter { $0.hasPrefix("register") }
    #expect(
      sent
        == ["", " 2", " 3"].map { #"register {"email":"a@b.c","password":"a long new word\#($0)"}"# }, "\(sent)")
  }

  @Test func `register asks again for exactly the values that are refused, options or not`() throws {
    let owner = try owner(refusing: [#""phoneNumber","email""#, #""name""#])
    let again = Self.steps(
      ("E-mail address: ", "no address"), ("E-mail address: ", "b@b.c"), ("Phone number: ", "+491511234567"),
      ("Name: ", "M"))
    let run = try CommandRun(atTerminal: Self.first + again, Self.words, in: scratch)
    #expect(run.code == 0, "\(run.output)")
    #expect(
      owner.requests.last { $0.hasPrefix("register") }
        == #"register {"email":"b@b.c","password":"a long new word","name":"M","#
        + #""phoneNumber":"+491511234567"}"#)
    #expect(run.output.split(separator: "Repeat the password: ").count == 2, "\(run.output)")
  }

  @Test(arguments: [#""password","scopes""#, #""scopes""#, ""])
  func `what cannot be asked for again ends the command`(fields: String) throws {
    let owner = try owner(refusing: [fields])
    let run = try CommandRun(atTerminal: Self.first, ["register"], in: scratch)
    #expect(run.code == 1, "\(run.output)")
    #expect(owner.requests.filter { $0.hasPrefix("register") }.count == 1)
  }

  @Test(arguments: [["--json"], ["--password-command", "echo a long new word"]])
  func `register asks no person again with --json or where a program gives the password`(options: [String]) throws {
    let owner = try owner(refusing: [#""password""#])
    let steps = options == ["--json"] ? Self.first : Array(Self.first.prefix(1))
    let run = try CommandRun(atTerminal: steps, ["register"] + options, in: scratch)
    #expect(run.code == 1, "\(run.output)")
    #expect(owner.requests.filter { $0.hasPrefix("register") }.count == 1)
  }

  @Test func `a person who is asked again may leave`() throws {
    let owner = try owner(refusing: [#""name""#])
    let leaving = [CommandRun.Step(question: "Name: ", answer: "\u{4}")]
    let run = try CommandRun(atTerminal: Self.first + leaving, Self.words, in: scratch)
    #expect(run.code == 1 && run.output.hasSuffix("nothing was entered: the input has ended\r\n"), "\(run.output)")
    #expect(owner.requests.filter { $0.hasPrefix("register") }.count == 1)
  }

  @Test func `local add asks again as register does`() throws {
    let owner = try owner(refusing: [#""email""#])
    let again = Self.steps(("E-mail address: ", "b@b.c"))
    let run = try CommandRun(atTerminal: Self.first + again, ["local", "add"], in: scratch)
    #expect(run.code == 0 && run.output.contains("created the account a@b.c (u-1)\r\n"), "\(run.output)")
    #expect(owner.requests.last == #"addLocalUser {"email":"b@b.c","password":"a long new word"}"#)
  }

  // MARK: Passwords

  private static let present = steps(("Present password: ", "right"))

  @Test(arguments: [
    ("off", "at least 15 characters"), ("totp", "at least 8 characters"),
    ("", "at least 15 characters, or 8 beside a second factor"),
  ])
  func `password says how long the new one must be beside the account's second factor`(
    factor: String, rule: String
  ) throws {
    let owner = try owner(refusing: [], factor: factor)
    let new = Self.steps(
      ("New password (\(rule)): ", "a long new word"), ("Repeat the password: ", "a long new word"))
    let run = try CommandRun(atTerminal: Self.present + new, ["account", "password"], in: scratch)
    #expect(run.code == 0 && run.output.contains("New password (\(rule)): "), "\(run.output)")
    #expect(owner.requests.contains(#"changePassword {"oldPassword":"right","newPassword":"a long new word"}"#))
  }

  @Test func `password asks again for a new one that is refused, and not for the present one`() throws {
    let owner = try owner(refusing: [#""newPassword""#], factor: "off")
    let new = Self.steps(
      ("New password", "a long new word"), ("Repeat the password: ", "a long new word"),
      ("New password", "a long new word 2"), ("Repeat the password: ", "a long new word 2"))
    let run = try CommandRun(atTerminal: Self.present + new, ["account", "password"], in: scratch)
    #expect(run.code == 0 && run.output.contains("does not accept the new password: it must"), "\(run.output)")
    #expect(Self.count("Present password: ", in: run.output) == 1, "\(run.output)")
    let changes = owner.requests.filter { $0.hasPrefix("changePassword") }
    #expect(changes.last == #"changePassword {"oldPassword":"right","newPassword":"a long new word 2"}"#)
  }

  @Test func `a new password that a program prints is tried once`() throws {
    let owner = try owner(refusing: [#""newPassword""#])
    let words = ["account", "password", "--new-password-command", "echo a long new word"]
    let run = try CommandRun(atTerminal: Self.present, words, in: scratch)
    #expect(run.code == 1, "\(run.output)")
    #expect(owner.requests.filter { $0.hasPrefix("changePassword") }.count == 1)
  }

  @Test func `reset asks again for a password that is refused, and keeps the token`() throws {
    let owner = try owner(refusing: [#""password""#])
    let typed = Self.steps(
      ("Token: ", "tok"), ("New password", "a long new word"), ("Repeat the password: ", "a long new word"),
      ("New password", "a long new word 2"), ("Repeat the password: ", "a long new word 2"))
    let run = try CommandRun(atTerminal: typed, ["account", "reset"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    #expect(
      owner.requests.last { $0.hasPrefix("resetPassword") }
        == #"resetPassword {"token":"tok","password":"a long new word 2"}"#)
  }

  @Test func `reset ends where the token is refused`() throws {
    let owner = try owner(refusing: [#""token","password""#])
    let typed = Self.steps(
      ("Token: ", "tok"), ("New password", "a long new word"), ("Repeat the password: ", "a long new word"))
    let run = try CommandRun(atTerminal: typed, ["account", "reset"], in: scratch)
    #expect(run.code == 1 && run.output.contains("was used before or has expired"), "\(run.output)")
    #expect(owner.requests.filter { $0.hasPrefix("resetPassword") }.count == 1)
  }
}
