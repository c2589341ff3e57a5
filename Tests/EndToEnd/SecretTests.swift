import JSON
import LinuxSystem
import Synchronization
import TestSupport
import Testing

/// Marked secrets go through a whole conversation and are found nowhere but where they belong.
@Suite(.standardTimeLimit) struct SecretTests {
  private static let password = "example-password-MARK-5d1f0c"
  private static let wrongPassword = "wrong-password-MARK-77ab02"
  private static let wrongCode = "4815162342"

  @Test func `no secret is in a file, a log, an event, an error, an environment or a command line`() async throws {
    let box = EvidenceBox()
    try await Sandbox.run { sandbox in
      var found = Evidence()
      defer { box.evidence.withLock { $0 = found } }
      let options = try sandbox.configure(
        #"{ logLevel: "debug", local: { otp: { length: 10, maxAttempts: 3 } } }"#)
      let owner = try sandbox.owner(options)
      let watcher = try SocketWire(sandbox.socket)
      _ = try watcher.call("subscribe")
      let session = Conversation(sandbox, try SocketWire(sandbox.socket))
      found.marks += try session.play()
      found.said += session.said
      // While it runs: what is only in the write-ahead log, and what the kernel shows of the process.
      found.collectFiles(sandbox)
      try found.collectProcess(owner.pid)
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      found.said += try watcher.readToEnd()
      found.collectFiles(sandbox)
      found.files["standard error"] = Array(owner.errorText.utf8)
      found.marks += try found.refreshToken(of: sandbox)
    }
    let found = box.evidence.withLock { $0 }
    #expect(found.marks.count >= 7)
    #expect(found.files.count >= 6)
    #expect(found.said.count > 10)
    #expect(found.leaks.isEmpty)
  }

  @Test func `the embedded provider keeps neither password nor tokens, and a code only until it is used`() async throws
  {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(#"{ local: { otp: { length: 10 } } }"#)
      let owner = try sandbox.owner(options)
      let session = Conversation(sandbox, try SocketWire(sandbox.socket))
      let marks = try session.play()
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      var found = Evidence()
      found.collect(Directory.files(below: sandbox.state + "/local-provider"))
      #expect(!found.files.isEmpty)
      found.marks = try marks + found.refreshToken(of: sandbox)
      #expect(found.leaks.isEmpty)
    }
  }

  @Test func `neither an ID token nor the password of a client is found anywhere`() async throws {
    let box = EvidenceBox()
    try await Sandbox.run { sandbox in
      var found = Evidence()
      defer { box.evidence.withLock { $0 = found } }
      let backend = try OIDCBackend(sandbox)
      let owner = try sandbox.owner(try backend.configure(sandbox, "allowIdToken: true,"))
      let watcher = try SocketWire(sandbox.socket)
      _ = try watcher.call("subscribe")
      let wire = try SocketWire(sandbox.socket)
      for call in [("login", OIDCBackend.credentials), ("getSession", "{}"), ("getCurrentUser", "{}")] {
        found.said.append(String(decoding: try wire.call(call.0, call.1).text, as: UTF8.self))
      }
      try backend.logIn(wire)
      let idToken = try wire.call("getIdToken").required("idToken").string()
      #expect(try sandbox.command("token", "--id").output == idToken + "\n")
      let accessToken = try wire.call("getAccessToken", #"{"forceRefresh":true}"#).required("accessToken").string()
      let next = try wire.call("getIdToken").required("idToken").string()
      for method in ["getStatus", "initialize", "listSessions"] {
        found.said.append(String(decoding: try wire.call(method).text, as: UTF8.self))
      }
      found.marks = [
        SecretMark("the client's password", backend.clientSecret), SecretMark("the password", OIDCBackend.password),
        SecretMark("the first ID token", idToken), SecretMark("the second ID token", next),
        SecretMark("the access token", accessToken),
      ]
      found.collectFiles(sandbox)
      try found.collectProcess(owner.pid)
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      found.said += try watcher.readToEnd()
      found.collectFiles(sandbox)
      found.files["standard error"] = Array(owner.errorText.utf8)
      found.marks += try found.refreshToken(of: sandbox)
    }
    let found = box.evidence.withLock { $0 }
    #expect(found.marks.count == 6 && found.files.count >= 5 && found.said.count > 7)
    #expect(found.leaks.isEmpty)
  }

  @Test func `the search finds what is there`() {
    let mark = SecretMark("mark", "example-secret")
    let text = "before example-secret behind"
    #expect(mark.isIn(Array(text.utf8)))
    #expect(mark.isIn(Array("6578616d706c652d736563726574".utf8)))
    #expect(mark.isIn(Array("YmVmb3JlIGV4YW1wbGUtc2VjcmV0IGJlaGluZA==".utf8)))
    #expect(mark.isIn(Array("eGV4YW1wbGUtc2VjcmV0".utf8)))
    #expect(mark.isIn(Array("terces-elpmaxe".utf8)))
    #expect(!mark.isIn(Array("example-secre".utf8)))
  }

  /// A client that uses every secret there is, and keeps what it was told besides tokens.
  private final class Conversation {
    private let sandbox: Sandbox
    private let wire: SocketWire
    var said: [String] = []

    init(_ sandbox: Sandbox, _ wire: SocketWire) {
      self.sandbox = sandbox
      self.wire = wire
    }

    /// Returns what must be found nowhere.
    func play() throws -> [SecretMark] {
      let account = #""email":"ada@example.com","password":"\#(password)""#
      let flow = try tell("register", #"{\#(account),"phoneNumber":"+15550100042"}"#)
        .required("result").required("challenge").required("otpFlowId").string()
      let code = try Outbox.newestCode(in: sandbox.outbox)
      _ = try tell("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(wrongCode)"}"#)
      _ = try tell("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(code)"}"#)
      let first = try wire.accessToken()
      _ = try tell("login", #"{"email":"ada@example.com","password":"\#(wrongPassword)"}"#)
      try sayNonsense(account)
      let second = try wire.call("reportRejected", #"{"accessToken":"\#(first)"}"#).required("accessToken").string()
      let third = try wire.call("getAccessToken", #"{"forceRefresh":true}"#).required("accessToken").string()
      for method in ["getSession", "listSessions", "getCurrentUser", "getStatus", "initialize"] {
        _ = try tell(method, "{}")
      }
      guard Set([first, second, third]).count == 3 else { throw TestFailure("there were no three tokens") }
      return [
        SecretMark("the password", password), SecretMark("the wrong password", wrongPassword),
        SecretMark("the code", code), SecretMark("the wrong code", wrongCode), SecretMark("the first token", first),
        SecretMark("the second token", second), SecretMark("the third token", third),
      ]
    }

    /// Messages that are refused for something else than the secret in them.
    private func sayNonsense(_ account: String) throws {
      for params in [
        #"{"email":7,"password":"\#(password)"}"#, #"{\#(account),"profile":"elsewhere"}"#,
        #"{"email":"ada@example.com","passwort":"\#(password)"}"#, #"["\#(password)"]"#,
        #"{"email":"\#(password)","password":[]}"#,
      ] {
        for method in ["login", "register", "verifyOtp"] { _ = try tell(method, params) }
      }
      for text in [
        #"{"jsonrpc":"2.0","id":1,"method":"login","params":{\#(account)}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"\#(password)"}"#, #"{"jsonrpc":"\#(password)","id":1,"method":"ping"}"#,
        #"{"jsonrpc":"2.0","method":"login","params":{"email":"\#(password)"}}"#,
      ] {
        try wire.send(Array(text.utf8))
      }
      said.append(String(decoding: try wire.nextNode().text, as: UTF8.self))
      said.append(String(decoding: try wire.nextNode().text, as: UTF8.self))
      said.append(String(decoding: try wire.nextNode().text, as: UTF8.self))
    }

    private func tell(_ method: String, _ params: String) throws -> JSONNode {
      let answer = try wire.ask(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
      said.append(String(decoding: answer.text, as: UTF8.self))
      return answer
    }
  }
}

/// What a test's thread leaves for its task.
private final class EvidenceBox: Sendable {
  let evidence = Mutex(Evidence())
}
