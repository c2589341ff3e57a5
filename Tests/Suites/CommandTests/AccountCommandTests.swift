import JSON
import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// `account` and its commands, but for the second factor.
@Suite(.standardTimeLimit) struct AccountCommandTests {
  let scratch = Scratch()

  private static func session(_ provider: String) -> String {
    #"{"profile":"default","provider":"\#(provider)","state":"authenticated","#
      + #""user":{"id":"u","email":"ann@example.com"},"scopes":[],"refreshTokenPresent":true}"#
  }
  private static let user =
    #"{"id":"u-1","email":"ann@example.com","emailVerified":false,"name":"A\u001bnn","phoneNumberMasked":"•• 42","#
    + #""twoFactor":"sms"}"#
  private static let codes = #""result":{"backupCodes":["abcde-fghjk","23456-789ab"]}"#

  private static func refusal(_ code: Int, _ kind: String, _ fields: String = "") -> String {
    let fields = fields.isEmpty ? "" : #","fields":[\#(fields)]"#
    return #""error":{"code":\#(code),"message":"The provider said no.","data":{"kind":"\#(kind)","nextAction":"none","#
      + #""retryable":false,"profile":"default"\#(fields)}}"#
  }

  private static let wrongPassword = refusal(1020, "invalidCredentials")

  /// An owner on whose provider the password is `right`, and where some calls need a recent login first.
  func owner(
    provider: String = "local", needingLogin: Set<String> = [], form: String = "password",
    answers: [String: String] = [:]
  ) throws -> FakeOwner {
    let isRecent = Mutex(false)
    return try FakeOwner(in: scratch) { method, params in
      let password = (try? (params?["password"] ?? params?["oldPassword"])?.string()) ?? ""
      if needingLogin.contains(method), !isRecent.withLock({ $0 }) { return Self.refusal(1003, "reauthRequired") }
      if let answer = answers[method] { return answer }
      switch method {
      case "getSession":
        let fields = form == "password" ? #""email","password""# : ""
        let login = #","login":[{"method":"\#(form)","fields":[\#(fields)]}]}"#
        return #""result":"# + String(Self.session(provider).dropLast()) + login
      case "getCurrentUser", "updateProfile": return #""result":"# + Self.user
      case "reauthenticate" where password == "right" || form != "password":
        isRecent.withLock { $0 = true }
        return #""result":{"status":"authenticated","session":\#(Self.session(provider))}"#
      case "reauthenticate": return Self.wrongPassword
      case "generateBackupCodes": return password == "right" ? Self.codes : Self.wrongPassword
      case "changePassword", "deleteAccount": return password == "right" ? #""result":{}"# : Self.wrongPassword
      default: return #""result":{}"#
      }
    }
  }

  private func run(
    _ words: String..., input: String = "", typing steps: [(String, String)]? = nil
  ) throws -> CommandRun {
    guard let steps else { return try CommandRun(["account"] + words, in: scratch, input: input) }
    let person = steps.map { CommandRun.Step(question: $0.0, answer: $0.1 + "\n") }
    return try CommandRun(atTerminal: person, ["account"] + words, in: scratch)
  }

  // MARK: Show and update

  /// What an owner was asked to do: the others are questions that come before.
  private static func changes(_ owner: FakeOwner) -> [String] {
    owner.requests.filter { request in !["getSession", "checkProvider", "getStatus"].contains(where: request.hasPrefix)
    }
  }

  @Test func `show prints what the provider says now, fit for a terminal`() throws {
    let owner = try owner()
    let shown = try run("show")
    #expect(
      shown.output
        == """
        id             u-1
        email          ann@example.com (not verified)
        name           A?nn
        phone          •• 42
        second factor  a code by SMS

        """, "\(shown.output)\(shown.errors)")
    #expect(owner.requests == [#"getCurrentUser {"maxAgeSeconds":0}"#])
    #expect(try run("show", "--json").output == Self.user + "\n")
  }

  @Test func `update sends what is named, as strings, and null for what is removed`() throws {
    let owner = try owner()
    let changed = try run(
      "update", "--name", "Ann \"A\"", "--phone", "+491", "--set", "city=a=b", "--set", "age=7", "--remove", "fax")
    #expect(changed.code == 0 && changed.output.hasPrefix("id             u-1\n"), "\(changed.errors)")
    let changes = #"{"name":"Ann \"A\"","phoneNumber":"+491","city":"a=b","age":"7","fax":null}"#
    #expect(owner.requests == [#"updateProfile {"changes":\#(changes)}"#])
    _ = try run("update", "--name", "", "--profile", "default")
    #expect(owner.requests.last == #"updateProfile {"profile":"default","changes":{"name":""}}"#)
  }

  @Test(arguments: ["", "ann", "a b@c", "@b"])
  func `email judges the address before anything is sent`(address: String) throws {
    let owner = try owner()
    let refused = try run("email", address)
    #expect(refused.code == 2 && refused.errors.contains("is not an e-mail address"), "\(refused.errors)")
    #expect(owner.requests.isEmpty)
  }

  @Test(arguments: [
    ("Ann@example.com", "the address is not verified yet"),
    ("new@example.com", "the new address counts once it is verified"),
  ])
  func `email says what the new address waits for, and what takes the token`(address: String, state: String) throws {
    let owner = try owner()
    let changed = try run("email", address)
    let next = "authbroker --state \(scratch.file("state")) account verify-email\n"
    #expect(changed.errors.contains(next) && changed.errors.contains(state + ";"), "\(changed.errors)")
    #expect(changed.code == 0 && changed.errors.hasSuffix(" local outbox\n"), "\(changed.errors)")
    #expect(owner.requests.first == #"updateProfile {"changes":{"email":"\#(address)"}}"#)
  }

  @Test func `values that the provider does not take are told in plain words`() throws {
    let refusal = Self.refusal(1031, "validationFailed", #""phoneNumber""#)
    try withExtendedLifetime(owner(answers: ["updateProfile": refusal])) {
      let refused = try run("update", "--phone", "1")
      #expect(refused.code == 1, "\(refused.errors)")
      #expect(refused.errors.contains("the phone number: it must begin with +"), "\(refused.errors)")
    }
  }

  // MARK: Authenticating again

  @Test func `where the user must authenticate again, the password is asked for and the call made again`() throws {
    let owner = try owner(needingLogin: ["updateProfile"])
    let changed = try run(
      "update", "--name", "B", typing: [("Password: ", "wrong"), ("Password: ", "right")])
    #expect(changed.code == 0 && changed.output.contains("authenticate again first"), "\(changed.output)")
    #expect(changed.output.contains("the provider said no; try again"), "\(changed.output)")
    let methods = owner.requests.map { $0.prefix { $0 != " " } }
    #expect(methods == ["updateProfile", "getSession", "reauthenticate", "reauthenticate", "updateProfile"])
  }

  @Test func `the password may come from standard input, and one that is wrong is tried once`() throws {
    let owner = try owner(needingLogin: ["updateProfile"])
    let wrong = try run("update", "--name", "B", "--password-stdin", input: "wrong\n")
    #expect(wrong.code == 4, "\(wrong.errors)")
    let changed = try run("update", "--name", "B", "--password-stdin", input: "right\n")
    #expect(changed.code == 0, "\(changed.errors)")
    #expect(owner.requests.filter { $0.hasPrefix("reauthenticate") }.count == 2)
  }

  @Test func `a script that has no password is told to log in`() throws {
    let owner = try owner(needingLogin: ["updateProfile"])
    let refused = try run("update", "--name", "B")
    #expect(refused.code == 3 && refused.errors.contains("log in with: authbroker "), "\(refused.errors)")
    #expect(owner.requests.count == 1)
  }

  @Test func `a provider whose users log in elsewhere is asked for no password`() throws {
    let owner = try owner(needingLogin: ["updateProfile"], form: "deviceCode")
    let changed = try run("update", "--name", "B", typing: [])
    #expect(changed.code == 0 && !changed.output.contains("Password"), "\(changed.output)")
    #expect(owner.requests.contains("reauthenticate {}"))
  }

  // MARK: Passwords

  @Test func `password asks for the present one again where it is wrong, and for the new one once more`() throws {
    let owner = try owner()
    let question = "New password (at least 15 characters, or 8 beside a second factor): "
    let changed = try run(
      "password",
      typing: [
        ("Present password: ", "wrong"), (question, "new one!"), ("Repeat the password: ", "new one!"),
        ("Present password: ", "right"),
      ])
    #expect(
      changed.code == 0 && changed.output.contains("authbroker: the password is changed\r\n"), "\(changed.output)")
    #expect(owner.requests.last == #"changePassword {"oldPassword":"right","newPassword":"new one!"}"#)
  }

  @Test func `both passwords may be lines of standard input, or come from programs`() throws {
    let owner = try owner()
    #expect(try run("password", "--password-stdin", input: "right\nnew one\n").code == 0)
    let commands = try run("password", "--password-command", "echo right", "--new-password-command", "echo other one")
    #expect(commands.code == 0, "\(commands.errors)")
    #expect(
      Self.changes(owner) == [
        #"changePassword {"oldPassword":"right","newPassword":"new one"}"#,
        #"changePassword {"oldPassword":"right","newPassword":"other one"}"#,
      ])
    let half = try run("password", "--password-stdin", input: "right\n")
    #expect(half.code == 2 && half.errors.contains("no line to read the new password from"), "\(half.errors)")
    let none = try run("password")
    #expect(none.code == 2 && none.errors.contains("use --password-stdin or --password-command"), "\(none.errors)")
    #expect(Self.changes(owner).count == 2)
  }

  @Test func `answers that still differ at the third time change nothing`() throws {
    let owner = try owner(provider: "rest")
    let pair = [("New password: ", "a"), ("Repeat the password: ", "b")]
    let steps = [("Present password: ", "right")] + pair + pair + pair
    let changed = try run("password", typing: steps)
    #expect(changed.code == 2 && changed.output.contains("the two passwords differ"), "\(changed.output)")
    #expect(!owner.requests.contains { $0.hasPrefix("changePassword") })
  }

  @Test(arguments: ["local", "rest"])
  func `forgot says what takes the token, and of the embedded provider where it may lie`(provider: String) throws {
    let owner = try owner(provider: provider)
    let asked = try run("forgot", "--email", "ann@example.com")
    #expect(asked.code == 0 && asked.errors.contains("if there is an account of that address"), "\(asked.errors)")
    #expect(asked.errors.contains("authbroker --state \(scratch.file("state")) account reset\n"), "\(asked.errors)")
    #expect(asked.errors.contains("local outbox") == (provider == "local"))
    #expect(Self.changes(owner).first == #"forgotPassword {"email":"ann@example.com"}"#)
  }

  @Test func `reset takes the token and the password, each from a line or from a person`() throws {
    let owner = try owner()
    let lines = try run("reset", "--token-stdin", "--password-stdin", input: "tok\nnew one\n")
    #expect(lines.code == 0 && lines.errors.contains("the password is set; log in with: authbroker"), "\(lines.errors)")
    #expect(owner.requests.last == #"resetPassword {"token":"tok","password":"new one"}"#)
    let person = try run(
      "reset", typing: [("Token: ", "kot"), ("New password", "new two!"), ("Repeat the password: ", "new two!")])
    #expect(person.code == 0, "\(person.output)")
    #expect(owner.requests.last == #"resetPassword {"token":"kot","password":"new two!"}"#)
    #expect(!person.output.contains("kot") && !person.output.contains("new two"), "\(person.output)")
  }

  @Test func `a token that is no good any more is told as such`() throws {
    let refusal = Self.refusal(1031, "validationFailed", #""token""#)
    try withExtendedLifetime(owner(answers: ["resetPassword": refusal, "verifyEmail": refusal])) {
      let reset = try run("reset", "--token-stdin", "--password-stdin", input: "tok\nnew one\n")
      #expect(reset.code == 1 && reset.errors.contains("was used before or has expired"), "\(reset.errors)")
      let verified = try run("verify-email", "--token-stdin", input: "tok\n")
      #expect(verified.code == 1 && verified.errors.contains("was used before or has expired"), "\(verified.errors)")
      #expect(!reset.errors.contains("tok\n") && !verified.errors.contains("tok\n"))
    }
  }

  @Test func `a token is never an argument`() throws {
    let owner = try owner()
    for words in [["verify-email", "canary"], ["verify-email", "--token", "canary"], ["reset", "--token=canary"]] {
      let refused = try CommandRun(["account"] + words, in: scratch)
      #expect(refused.code == 2 && !refused.errors.contains("canary"), "\(refused.errors)")
    }
    #expect(owner.requests.isEmpty)
  }

  @Test func `verify-email sends the token`() throws {
    let owner = try owner()
    let verified = try run("verify-email", "--token-stdin", input: "tok\n")
    #expect(verified.code == 0 && verified.errors == "authbroker: the e-mail address is verified\n")
    #expect(Self.changes(owner) == [#"verifyEmail {"token":"tok"}"#])
    let empty = try run("verify-email", "--token-stdin", input: "\n")
    #expect(empty.code == 2 && empty.errors == "authbroker: the token is empty; nothing was sent\n")
  }

  // MARK: Backup codes and the end

  @Test func `backup codes are data, and the advice is not`() throws {
    let owner = try owner()
    let made = try run("backup-codes", "--password-stdin", input: "right\n")
    #expect(made.code == 0 && made.output == "abcde-fghjk\n23456-789ab\n", "\(made.output)\(made.errors)")
    #expect(made.errors.contains("never shown again") && !made.errors.contains("abcde"), "\(made.errors)")
    let json = try run("backup-codes", "--password-stdin", "--json", input: "right\n")
    #expect(json.output == #"{"backupCodes":["abcde-fghjk","23456-789ab"]}"# + "\n" && json.errors.isEmpty)
    let person = try run("backup-codes", typing: [("Password: ", "wrong"), ("Password: ", "right")])
    #expect(person.code == 0 && person.output.contains("23456-789ab\r\n"), "\(person.output)")
    #expect(owner.requests.filter { $0.hasPrefix("generateBackupCodes") }.count == 4)
  }

  @Test(arguments: ["password", "delete", "backup-codes", "forgot", "reset", "verify-email"])
  func `nobody is asked for what the provider does not offer`(command: String) throws {
    let broker =
      #""result":{"protocolVersion":"1","server":{"name":"authbroker"},"capabilities":{"methods":[],"events":[],"#
      + #""framings":[],"providers":[{"type":"local","methods":["getCurrentUser"]}]},"sessions":["#
      + Self.session("local") + #"],"sequence":1}"#
    let owner = try owner(answers: ["initialize": broker])
    let refused = try run(command, typing: [])
    #expect(refused.code == 1 && !refused.output.contains(": \r\n"), "\(refused.output)")
    #expect(owner.requests == ["initialize {}"])
  }

  @Test(arguments: ["password", "delete", "backup-codes"])
  func `no password is asked for where nobody is logged in`(command: String) throws {
    let signedOut = #""result":{"profile":"default","provider":"oidc","state":"signedOut"}"#
    let owner = try owner(answers: ["getSession": signedOut])
    let refused = try run(command, typing: [])
    #expect(refused.code == 3 && refused.output.contains("login"), "\(refused.output)")
    #expect(!owner.requests.contains { $0.contains("assword") }, "\(owner.requests)")
  }

  @Test func `delete names the account before the password, and says that it is gone`() throws {
    let owner = try owner()
    let deleted = try run("delete", typing: [("Password: ", "right")])
    #expect(deleted.code == 0, "\(deleted.output)")
    let parts = deleted.output.split(
      separator: "this deletes the account that is logged in to default as ann@example.com")
    #expect(parts.count == 2 && !parts[0].contains("Password"), "\(deleted.output)")
    #expect(deleted.output.hasSuffix("authbroker: the account is deleted\r\n"))
    #expect(owner.requests.last == #"deleteAccount {"password":"right"}"#)
    let wrong = try run("delete", "--password-stdin", input: "wrong\n")
    #expect(wrong.code == 4, "\(wrong.errors)")
  }
}
