import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// What the owner of the state directory asks the embedded provider.
@Suite(.standardTimeLimit) struct DirectoryTests {
  /// A method, what it takes, what the directory is asked for it, and a part of the answer.
  struct Case: Sendable {
    let method: String
    let params: String
    let call: String
    let answer: String

    init(_ method: String, _ params: String, _ call: String, _ answer: String) {
      self.method = method
      self.params = params
      self.call = call
      self.answer = answer
    }
  }

  private static let cases = [
    Case("listLocalUsers", "{}", "users", #"{"users":[{"id":"user-1","email":"a@example.test","#),
    Case(
      "addLocalUser", #"{"email":"b@example.test","password":"p q","name":"B","phoneNumber":"+49"}"#,
      "addUser b@example.test p q B +49", #""email":"b@example.test","emailVerified":false,"twoFactor":"off","#),
    Case(
      "addLocalUser", #"{"email":"b@example.test","password":"p q"}"#, "addUser b@example.test p q - -",
      #""sessions":2}"#),
    Case(
      "setLocalUserEnabled", #"{"user":"a@example.test","enabled":false}"#, "setEnabled false a@example.test",
      #""disabled":true"#),
    Case(
      "setLocalUserEnabled", #"{"user":"user-1","enabled":true}"#, "setEnabled true user-1", #""disabled":false"#),
    Case(
      "resetLocalUser", #"{"user":"user-1","password":"p q"}"#, "reset user-1 p q false", #""twoFactor":"off""#),
    Case(
      "resetLocalUser", #"{"user":"user-1","removeSecondFactor":true}"#, "reset user-1 - true", #""id":"user-1""#),
    Case("deleteLocalUser", #"{"user":"a@example.test"}"#, "delete a@example.test", #""result":{}"#),
    Case("listLocalSessions", "{}", "sessions -", #"{"sessions":[{"id":"session-1","user":"user-1","#),
    Case("listLocalSessions", #"{"user":"user-1"}"#, "sessions user-1", #""amr":["pwd"]}]"#),
    Case("revokeLocalSessions", #"{"user":"user-1"}"#, "revokeSessions user-1 -", #"{"revoked":2}"#),
    Case("revokeLocalSessions", #"{"all":true}"#, "revokeAllSessions", #"{"revoked":3}"#),
    Case("revokeLocalSessions", #"{"user":"user-1","all":true}"#, "revokeSessions user-1 -", #"{"revoked":2}"#),
    Case("revokeLocalSessions", #"{"session":"s"}"#, "revokeSessions - s", #"{"revoked":2}"#),
    Case("listLocalMessages", "{}", "messages", #""body":"It is 000000.","code":"000000","#),
    Case("getLocalKeySet", "{}", "keySet", #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"x","kid":"key-1","#),
    Case("rotateLocalSigningKey", "{}", "rotateSigningKey", #""kid":"key-2","#),
    Case("introspectLocalToken", #"{"token":"t"}"#, "introspect t", #"{"active":false}"#),
    Case("listLocalAudit", "{}", "audit - 100", #""event":"login"}],"intact":true}"#),
    Case("listLocalAudit", #"{"since":41,"limit":2}"#, "audit 41 2", #"{"records":[{"number":7,"#),
    Case("listLocalAudit", #"{"limit":5000}"#, "audit - 1000", #""intact":true"#),
    Case("listLocalAudit", #"{"limit":0}"#, "audit - 0", #""intact":true"#),
  ]

  private static func call(_ method: String, _ params: String = "{}") -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  @Test(arguments: cases)
  func `the directory is asked what the client asks, and its answer is passed on`(_ test: Case) async throws {
    try await OwnThread.run {
      let directory = ScriptedDirectory()
      let client = try ServerHarness(directory: directory).connect()
      let answers = client.ask(Self.call(test.method, test.params))
      #expect(answers.count == 1 && answers.first?.contains(test.answer) == true, "\(answers)")
      #expect(directory.calls == [test.call])
    }
  }

  @Test(arguments: ["limit", "since"])
  func `a negative number of records is refused by its name`(_ name: String) async throws {
    try await OwnThread.run {
      let directory = ScriptedDirectory()
      let client = try ServerHarness(directory: directory).connect()
      let answer = client.ask(Self.call("listLocalAudit", #"{"\#(name)":-1}"#)).first ?? ""
      #expect(answer.contains("-32602") && answer.contains(#""pointer":"/\#(name)""#), "\(answer)")
      #expect(directory.calls.isEmpty)
    }
  }

  @Test(arguments: cases)
  func `a client with nothing but the socket is told what to prove`(_ test: Case) async throws {
    try await OwnThread.run {
      let directory = ScriptedDirectory()
      let client = try ServerHarness(directory: directory).connect()
      let answer = client.askBare(Self.call(test.method, test.params)).first ?? ""
      #expect(answer.contains(#""kind":"accessDenied""#) && ProofGiving.wanted(by: answer) != nil, "\(answer)")
      #expect(directory.calls.isEmpty)
    }
  }

  @Test(arguments: cases)
  func `where no profile uses the embedded provider, that is said`(_ test: Case) async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      let answer = client.ask(Self.call(test.method, test.params)).first ?? ""
      #expect(answer.contains(#""kind":"unsupportedByProvider""#), "\(answer)")
      #expect(answer.contains("No profile uses the embedded provider."), "\(answer)")
    }
  }

  @Test(arguments: cases)
  func `while the vault is locked, the directory is not asked`(_ test: Case) async throws {
    try await OwnThread.run {
      let directory = ScriptedDirectory()
      let client = try ServerHarness(directory: directory).connect()
      _ = client.ask(Self.call("lock"))
      let answer = client.ask(Self.call(test.method, test.params)).first ?? ""
      #expect(answer.contains(#""kind":"vaultLocked""#), "\(answer)")
      #expect(directory.calls.isEmpty)
    }
  }

  @Test func `what the directory refuses is told with its fields, and is no profile's`() async throws {
    try await OwnThread.run {
      let directory = ScriptedDirectory()
      let client = try ServerHarness(directory: directory).connect()
      directory.fail(with: .refused(.validationFailed, fields: ["user"]))
      let refusal = client.ask(Self.call("setLocalUserEnabled", #"{"user":"x","enabled":true}"#)).first ?? ""
      #expect(refusal.contains(#""kind":"validationFailed""#) && refusal.contains(#""fields":["user"]"#), "\(refusal)")
      #expect(!refusal.contains(#""profile""#), "\(refusal)")
      directory.fail(with: .misconfigured(.embeddedFiles))
      #expect(client.ask(Self.call("listLocalUsers")).first?.contains(#""kind":"configInvalid""#) == true)
      directory.fail(with: .transient(.providerUnavailable))
      #expect(client.ask(Self.call("listLocalUsers")).first?.contains(#""kind":"providerUnavailable""#) == true)
      directory.fail(with: nil)
      #expect(client.ask(Self.call("listLocalUsers")).first?.contains(#""users""#) == true)
    }
  }

  @Test(arguments: [
    ("addLocalUser", "{}", "/email"), ("addLocalUser", #"{"email":"a@b"}"#, "/password"),
    ("addLocalUser", #"{"email":7,"password":"x"}"#, "/email"), ("setLocalUserEnabled", #"{"user":"x"}"#, "/enabled"),
    ("setLocalUserEnabled", #"{"user":"x","enabled":"yes"}"#, "/enabled"), ("introspectLocalToken", "{}", "/token"),
    ("revokeLocalSessions", #"{"session":"ä"}"#, "/session"), ("listLocalAudit", #"{"since":"1"}"#, "/since"),
    ("listLocalSessions", #"{"user":"\#(String(repeating: "x", count: 255))"}"#, "/user"),
  ])
  func `parameters that do not fit are named, and nothing is asked`(
    _ method: String, _ params: String, _ pointer: String
  ) async throws {
    try await OwnThread.run {
      let directory = ScriptedDirectory()
      let client = try ServerHarness(directory: directory).connect()
      let answer = client.ask(Self.call(method, params)).first ?? ""
      #expect(answer.contains(#""kind":"invalidParams""#) && answer.contains(#""pointer":"\#(pointer)""#), "\(answer)")
      #expect(directory.calls.isEmpty)
    }
  }
}
