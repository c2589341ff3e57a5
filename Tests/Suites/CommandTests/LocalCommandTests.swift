import JSON
import TestSupport
import Testing

@testable import authbroker

/// `local` and its commands.
@Suite(.standardTimeLimit) struct LocalCommandTests {
  private let scratch = Scratch()

  private static let time = #""2099-01-01T00:00:00Z""#
  private static func user(_ email: String, isDisabled: Bool = false) -> String {
    #"{"id":"u-1","email":"\#(email)","emailVerified":true,"twoFactor":"totp","disabled":\#(isDisabled),"#
      + #""createdAt":\#(time),"sessions":2}"#
  }
  private static let message =
    #"{"number":3,"to":"+4942","method":"sms","subject":"S","body":"It is 123456.\nNever\u001b.","code":"123456","#
    + #""createdAt":\#(time),"expiresAt":\#(time)}"#
  private static let session =
    #"{"id":"s-1","user":"u-1","scopes":["a"],"createdAt":\#(time),"lastUsedAt":\#(time),"expiresAt":\#(time),"#
    + #""amr":["pwd","otp"]}"#
  private static let keys =
    #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"x","kid":"k2","use":"sig","alg":"EdDSA"},"#
    + #"{"kty":"OKP","crv":"Ed25519","x":"y","kid":"k1","use":"sig","alg":"EdDSA"}]}"#

  private static func refusal(_ fields: String) -> String {
    #""error":{"code":1031,"message":"The provider rejected a value.","data":{"kind":"validationFailed","#
      + #""nextAction":"fixRequest","retryable":false,"fields":[\#(fields)]}}"#
  }

  private func owner(_ answers: [String: String] = [:]) throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      if let answer = answers[method] { return answer }
      return switch method {
      case "listLocalUsers":
        #""result":{"users":[\#(Self.user("a@b.c")),\#(Self.user("d\\u001b@b.c", isDisabled: true))]}"#
      case "addLocalUser", "setLocalUserEnabled", "resetLocalUser": #""result":"# + Self.user("a@b.c")
      case "deleteLocalUser": #""result":{}"#
      case "listLocalSessions": #""result":{"sessions":[\#(Self.session)]}"#
      case "revokeLocalSessions": #""result":{"revoked":2}"#
      case "listLocalMessages": #""result":{"messages":[\#(Self.message)]}"#
      case "getLocalKeySet", "rotateLocalSigningKey": #""result":"# + Self.keys
      case "introspectLocalToken":
        #""result":{"active":true,"scope":"a b","sub":"u-1","exp":4070908800,"iat":0,"sid":"s-1","amr":["pwd"]}"#
      case "listLocalAudit":
        #""result":{"records":[{"number":7,"at":\#(Self.time),"event":"login","user":"u-1"}],"intact":true}"#
      default: FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  private func run(_ words: String..., input: String = "") throws -> CommandRun {
    try CommandRun(["local"] + words, in: scratch, input: input)
  }

  @Test func `users are a table, and the broker's own answer with --json`() throws {
    let owner = try owner()
    let run = try run("users")
    #expect(
      run.words == """
        EMAIL NAME PHONE SECOND FACTOR STATE SESSIONS ID
        a@b.c - - totp enabled 2 u-1
        d?@b.c - - totp disabled 2 u-1

        """, "\(run.output)\(run.errors)")
    let json = try JSONDocument(parsing: Array(try self.run("users", "--json").output.utf8)).root
    #expect(try json.required("users").elements().count == 2)
    #expect(owner.requests == ["listLocalUsers {}", "listLocalUsers {}"])
  }

  @Test func `without an account the command that makes one is named`() throws {
    try withExtendedLifetime(owner(["listLocalUsers": #""result":{"users":[]}"#])) {
      let run = try run("users")
      #expect(run.code == 0 && run.output.isEmpty)
      #expect(run.errors.hasSuffix("create one with: authbroker --state \(scratch.file("state")) local add\n"))
    }
  }

  @Test func `add takes the password from a line, and tells its rule to a person`() throws {
    let owner = try owner()
    let line = try run("add", "--email", "a@b.c", "--name", "A", "--password-stdin", input: "p q\n")
    #expect(line.code == 0 && line.errors == "authbroker: created the account a@b.c (u-1)\n", "\(line.errors)")
    #expect(owner.requests == [#"addLocalUser {"email":"a@b.c","password":"p q","name":"A"}"#])
    let person = try CommandRun(
      atTerminal: [
        .init(question: "E-mail address: ", answer: "a@b.c\n"),
        .init(question: "Password (at least 8 characters): ", answer: "p q r s t\n"),
        .init(question: "Repeat the password: ", answer: "p q r s t\n"),
      ], ["local", "add", "--phone", "+491"], in: scratch)
    #expect(person.code == 0, "\(person.output)")
    #expect(owner.requests.last == #"addLocalUser {"email":"a@b.c","password":"p q r s t","phoneNumber":"+491"}"#)
    let wrong = try run("add", "--email", "a", "--password-stdin", input: "p q\n")
    #expect(wrong.code == 2 && owner.requests.count == 2, "\(wrong.errors)")
  }

  @Test func `what the provider does not take of a new account is told with its rule`() throws {
    try withExtendedLifetime(owner(["addLocalUser": Self.refusal(#""password","phoneNumber""#)])) {
      let run = try run("add", "--email", "a@b.c", "--password-stdin", input: "p\n")
      #expect(run.code == 1 && run.errors.contains("at least 15 characters"), "\(run.errors)")
      #expect(run.errors.contains("nor the phone number: it must begin with +"), "\(run.errors)")
    }
  }

  @Test func `disable and enable name the account as it was given`() throws {
    let owner = try owner()
    #expect(try run("disable", "a@b.c").errors == "authbroker: a@b.c may not log in, and its sessions are revoked\n")
    #expect(try run("enable", "u-1").errors == "authbroker: a@b.c may log in\n")
    #expect(
      owner.requests == [
        #"setLocalUserEnabled {"user":"a@b.c","enabled":false}"#, #"setLocalUserEnabled {"user":"u-1","enabled":true}"#,
      ])
  }

  @Test func `reset sets a password, removes the second factor, or both`() throws {
    let owner = try owner()
    let password = try run("reset", "a@b.c", "--password-stdin", input: "p q\n")
    #expect(password.errors == "authbroker: a@b.c has a new password; its sessions are revoked\n")
    let factor = try run("reset", "u-1", "--remove-second-factor")
    #expect(factor.errors == "authbroker: a@b.c has no second factor any more; its sessions are revoked\n")
    let both = try run("reset", "u-1", "--remove-second-factor", "--password-stdin", input: "p q\n")
    #expect(both.errors.contains("has a new password and has no second factor any more"))
    #expect(
      owner.requests == [
        #"resetLocalUser {"user":"a@b.c","password":"p q"}"#,
        #"resetLocalUser {"user":"u-1","removeSecondFactor":true}"#,
        #"resetLocalUser {"user":"u-1","password":"p q","removeSecondFactor":true}"#,
      ])
    #expect(try run("reset").code == 2 && owner.requests.count == 3)
  }

  @Test func `reset tells which account is not there, and which password is not taken`() throws {
    for (field, part) in [("user", "no account here has the identifier"), ("password", "at least 15 characters")] {
      try withExtendedLifetime(owner(["resetLocalUser": Self.refusal("\"\(field)\"")])) {
        let run = try run("reset", "no one", "--password-stdin", input: "p\n")
        #expect(run.code == 1 && run.errors.contains(part), "\(run.errors)")
      }
    }
  }

  @Test func `delete names the account, and revoke takes every session with --all`() throws {
    let owner = try owner()
    let unsure = try run("delete", "a@b.c")
    #expect(unsure.code == 2 && unsure.errors.contains("give --yes"), "\(unsure.errors)")
    for (answer, code) in [("n\n", 1), ("\n", 1)] as [(String, Int32)] {
      let steps = [CommandRun.Step(question: "for good? [y/N]: ", answer: answer)]
      let asked = try CommandRun(atTerminal: steps, ["local", "delete", "a@b.c"], in: scratch)
      #expect(asked.code == code && asked.output.contains("nothing was deleted"), "\(asked.output)")
    }
    #expect(Set(owner.requests) == ["listLocalUsers {}"])
    #expect(try run("delete", "--yes", "a@b.c").errors == "authbroker: the account a@b.c is deleted\n")
    #expect(try run("revoke", "--all").errors == "authbroker: revoked 2 sessions\n")
    let requests = owner.requests.filter { !$0.hasPrefix("list") }
    #expect(requests == [#"deleteLocalUser {"user":"a@b.c"}"#, #"revokeLocalSessions {"all":true}"#])
    #expect(try run("revoke", "a@b.c", "--all").code == 2 && run("revoke").code == 2)
    #expect(owner.requests.filter { !$0.hasPrefix("list") } == requests)
  }

  @Test func `an account or a session that is not there is told by its name`() throws {
    let owner = try owner([
      "setLocalUserEnabled": Self.refusal(#""user""#), "listLocalSessions": Self.refusal(#""user""#),
      "revokeLocalSessions": Self.refusal(#""session""#),
    ])
    for words in [["disable", "no one"], ["enable", "no one"], ["sessions", "no one"]] {
      let run = try CommandRun(["local"] + words, in: scratch)
      #expect(run.code == 1 && run.errors.contains("no account here has the identifier or address 'no one'"))
      #expect(run.errors.hasSuffix("local users\n"), "\(run.errors)")
    }
    let revoked = try run("revoke", "a@b.c", "--session", "s-9")
    #expect(revoked.code == 1 && revoked.errors.contains("there is no such session: s-9; see: "), "\(revoked.errors)")
    #expect(owner.requests.last == #"revokeLocalSessions {"user":"a@b.c","session":"s-9"}"#)
  }

  @Test func `sessions name their accounts by the address`() throws {
    let owner = try owner()
    let run = try run("sessions", "a@b.c")
    #expect(
      run.words == """
        ACCOUNT BEGAN LAST USED EXPIRES PROVEN BY ID
        a@b.c 2099-01-01 00:00 2099-01-01 00:00 on 2099-01-01 00:00 pwd otp s-1

        """, "\(run.output)\(run.errors)")
    #expect(owner.requests == [#"listLocalSessions {"user":"a@b.c"}"#, "listLocalUsers {}"])
  }

  @Test func `revoke counts, and says where there was nothing to revoke`() throws {
    let owner = try owner()
    #expect(try run("revoke", "a@b.c").errors == "authbroker: revoked 2 sessions\n")
    #expect(try run("revoke", "--session", "s-1").code == 0)
    #expect(owner.requests == [#"revokeLocalSessions {"user":"a@b.c"}"#, #"revokeLocalSessions {"session":"s-1"}"#])
  }

  @Test func `the outbox shows each message with its code, fit for a terminal`() throws {
    let owner = try owner()
    let run = try run("outbox")
    #expect(
      run.output == """
        3  SMS to +4942, 2099-01-01 00:00, expires on 2099-01-01 00:00
        It is 123456.
        Never?.

        """, "\(run.output)\(run.errors)")
    let json = try JSONDocument(parsing: Array(try self.run("outbox", "--json").output.utf8)).root
    #expect(try json.required("messages").elements().first?.required("code").string() == "123456")
    #expect(owner.requests.count == 2)
  }

  @Test func `an empty outbox is said to be empty`() throws {
    try withExtendedLifetime(owner(["listLocalMessages": #""result":{"messages":[]}"#])) {
      let run = try run("outbox")
      #expect(run.code == 0 && run.output.isEmpty && run.errors == "authbroker: the outbox is empty\n")
    }
  }

  @Test func `jwks prints the set as it is, with and without --json`() throws {
    let owner = try owner()
    #expect(try run("jwks").output == Self.keys + "\n")
    #expect(try run("jwks", "--json").output == Self.keys + "\n")
    #expect(owner.requests == ["getLocalKeySet {}", "getLocalKeySet {}"])
  }

  @Test func `rotate-key names the key that signs`() throws {
    let owner = try owner()
    let run = try run("rotate-key")
    #expect(run.errors == "authbroker: tokens are signed with the key k2; 2 keys verify\n", "\(run.errors)")
    #expect(owner.requests == ["rotateLocalSigningKey {}"])
  }

  @Test func `introspect prints what a token says, and takes none as an argument`() throws {
    let owner = try owner()
    let run = try run("introspect", "--token-stdin", input: "tok\n")
    #expect(
      run.words == """
        account u-1
        session s-1
        scopes a b
        issued 1970-01-01 00:00:00
        expires 2099-01-01 00:00:00
        by pwd

        """, "\(run.output)\(run.errors)")
    #expect(owner.requests == [#"introspectLocalToken {"token":"tok"}"#])
    let argument = try self.run("introspect", "canary")
    #expect(argument.code == 2 && !argument.errors.contains("canary") && owner.requests.count == 1)
  }

  @Test func `a token that is not good ends with the code of wrong credentials`() throws {
    try withExtendedLifetime(owner(["introspectLocalToken": #""result":{"active":false}"#])) {
      let run = try run("introspect", "--token-stdin", input: "tok\n")
      #expect(run.code == 4 && run.output.isEmpty && !run.errors.contains("tok\n"), "\(run.errors)")
      let json = try self.run("introspect", "--token-stdin", "--json", input: "tok\n")
      #expect(json.code == 4 && json.output == #"{"active":false}"# + "\n" && json.errors.isEmpty)
    }
  }

  @Test func `the audit is a table, and one that was changed ends with a failure`() throws {
    let owner = try owner()
    let run = try run("audit", "--since", "6", "--limit", "5")
    #expect(run.words == "NUMBER TIME EVENT ACCOUNT DETAIL\n7 2099-01-01 00:00:00 login u-1 -\n", "\(run.output)")
    #expect(owner.requests == [#"listLocalAudit {"since":6,"limit":5}"#])
  }

  @Test func `an audit log that was changed is a failure, whatever is shown of it`() throws {
    try withExtendedLifetime(owner(["listLocalAudit": #""result":{"records":[],"intact":false}"#])) {
      for options in [[], ["--json"]] as [[String]] {
        let run = try CommandRun(["local", "audit"] + options, in: scratch)
        #expect(run.code == 1 && run.errors.contains("the audit log was changed or cut"), "\(run.errors)")
        #expect(run.output == (options.isEmpty ? "" : #"{"records":[],"intact":false}"# + "\n"))
      }
    }
  }

  @Test func `where no profile uses the embedded provider, that is all that is said`() throws {
    let refusal = FakeOwner.refusal(1050, "unsupportedByProvider", "No profile uses the embedded provider.")
    try withExtendedLifetime(owner(["listLocalUsers": refusal])) {
      let run = try run("users")
      #expect(run.code == 1 && run.errors == "authbroker: no profile uses the embedded provider\n", "\(run.errors)")
    }
  }
}
