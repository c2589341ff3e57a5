import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A real broker with a profile on a real backend.
@Suite(.standardTimeLimit) struct RESTBackendTests {
  static let credentials = #"{"email":"ada@example.com","password":"example password 1"}"#

  func configuration(_ backend: RESTBackend) -> String {
    "{ profiles: { default: { provider: \"rest\", baseUrl: \"\(backend.url)\" } } }"
  }

  /// Logs in with password and code; the session.
  func logIn(_ client: SocketWire, _ backend: RESTBackend) throws -> JSONNode {
    let challenge = try client.call("login", Self.credentials).required("challenge")
    #expect(try challenge.required("maskedDestination").string() == "********0123")
    let flow = try challenge.required("otpFlowId").string()
    let result = try client.call("verifyOtp", "{\"otpFlowId\":\"\(flow)\",\"code\":\"\(try backend.code())\"}")
    return try result.required("session")
  }

  @Test(arguments: ["nested", "objects", "oauth", "camel"])
  func `the journey of a session, whatever shape the backend answers in`(_ shape: String) async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, shape: shape)
      (sandbox.environment["LD_DEBUG"], sandbox.environment["LD_DEBUG_OUTPUT"]) = ("files", sandbox.root + "/loaded")
      let owner = try sandbox.owner(try sandbox.configure(configuration(backend)))
      let client = try SocketWire(sandbox.socket)
      #expect(try loaded(owner, in: sandbox) == [], "what speaks HTTP is loaded with the first request")
      let session = try logIn(client, backend)
      #expect(try loaded(owner, in: sandbox).contains("libcurl"))
      #expect(try session.required("provider").string() == "rest")
      #expect(try session.required("user").required("name").string() == "Ada")
      let token = try client.accessToken()
      let fresh = try client.call("getAccessToken", #"{"forceRefresh":true}"#).required("accessToken").string()
      #expect(fresh != token)
      #expect(try client.call("getCurrentUser", #"{"maxAgeSeconds":0}"#).required("id").string() == "user-1")
      let revoked = try client.call("logout").required("results").elements().map {
        try $0.required("serverRevoked").string()
      }
      #expect(revoked == ["yes"])
      #expect(try backend.refreshes() == ["rotated"])
    }
  }

  @Test func `a lost reply costs neither the session nor a second use of the token`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, shape: "oauth")
      _ = try sandbox.owner(try sandbox.configure(configuration(backend)))
      let client = try SocketWire(sandbox.socket)
      _ = try logIn(client, backend)
      let token = try client.accessToken()
      _ = try backend.ask("/misbehave", #"{"endpoint":"refresh","name":"drop-after-commit"}"#)
      #expect(try client.refusal("getAccessToken", #"{"forceRefresh":true}"#) == "refreshOutcomeUnknown")
      #expect(try client.accessToken() == token)
      #expect(try client.refusal("getAccessToken", #"{"forceRefresh":true}"#) == "refreshOutcomeUnknown")
      #expect(try backend.refreshes() == ["rotated"])
    }
  }

  @Test func `a logout while the backend is away is told to it after a restart, once it is back`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, shape: "nested")
      let arguments = try sandbox.configure(configuration(backend))
      let first = try sandbox.owner(arguments)
      let client = try SocketWire(sandbox.socket)
      _ = try logIn(client, backend)
      _ = try backend.ask("/misbehave", #"{"endpoint":"logout","name":"drop-before-commit","times":-1}"#)
      #expect(try outcomes(client.call("logout")) == ["pending"])
      #expect(try client.call("getSession").required("state").string() == "signedOut")
      sandbox.bury(first)
      // Nothing of the session is left to be used, and what is to be revoked is sealed.
      _ = try sandbox.owner(arguments)
      let again = try SocketWire(sandbox.socket)
      #expect(try again.refusal("getAccessToken") == "loginRequired")
      #expect(try pendingRevocations(again) == 1)
      #expect(try logouts(at: backend).isEmpty)
      _ = try backend.ask("/misbehave", #"{"steps":[],"replace":true}"#)
      let deadline = Patience.end
      while try pendingRevocations(again) > 0, BootClock.now < deadline { usleep(100_000) }
      #expect(try pendingRevocations(again) == 0)
      #expect(try logouts(at: backend) == ["revoked"])
    }
  }

  private func outcomes(_ result: JSONNode) throws -> [String] {
    try result.required("results").elements().map { try $0.required("serverRevoked").string() }
  }

  /// What became of the logouts that the backend has looked at.
  private func logouts(at backend: RESTBackend) throws -> [String] {
    try backend.ask("/ledger?event=logout").required("entries").elements().map {
      try $0.required("outcome").string()
    }.filter { $0 != "notProcessed" }
  }

  private func pendingRevocations(_ client: SocketWire) throws -> Int {
    try Int(from: client.call("getStatus").required("counters").required("pendingRevocations"))
  }

  @Test func `a backend that is away keeps the session, one that refuses ends it`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, shape: "objects")
      _ = try sandbox.owner(try sandbox.configure(configuration(backend)))
      let client = try SocketWire(sandbox.socket)
      _ = try logIn(client, backend)
      _ = try backend.ask("/misbehave", #"{"endpoint":"refresh","name":"captive-portal"}"#)
      #expect(try client.refusal("getAccessToken", #"{"forceRefresh":true}"#) == "invalidResponse")
      #expect(try client.call("getSession").required("state").string() != "expired")
      _ = try client.accessToken()
      _ = try backend.ask("/revoke", #"{"email":"ada@example.com"}"#)
      // The broker waits a little after a failure; what the backend means comes with the next refresh.
      var kind = try client.refusal("getAccessToken", #"{"forceRefresh":true}"#)
      let deadline = Patience.end
      while kind == "invalidResponse", BootClock.now < deadline {
        kind = try client.refusal("getAccessToken", #"{"forceRefresh":true}"#)
      }
      #expect(kind == "sessionExpired")
      #expect(try client.call("getSession").required("state").string() == "expired")
    }
  }

  @Test func `another address signs the profile out, and gets nothing`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, shape: "camel")
      _ = try sandbox.owner(try sandbox.configure(configuration(backend)))
      let client = try SocketWire(sandbox.socket)
      _ = try logIn(client, backend)
      let other = try RESTBackend(sandbox, shape: "camel")
      _ = try sandbox.configure(configuration(other))
      _ = try client.call("reloadConfig")
      #expect(try client.call("getSession").required("state").string() == "signedOut")
      #expect(try client.refusal("getAccessToken") == "loginRequired")
      #expect(try other.ask("/ledger").required("entries").elements().isEmpty)
    }
  }

  private static func account(_ name: String) -> String {
    "{\"email\":\"\(name)@example.com\",\"password\":\"example password 1\"}"
  }

  /// What is answered to a call with more parameters than the profile.
  private static func params(_ profile: String, _ more: String) -> String {
    "{\"profile\":\"\(profile)\",\(more.dropFirst())"
  }

  @Test func `a password reset ends its own user's session, on whatever profile it was asked for`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, account: Self.account("ann"))
      _ = try backend.ask("/accounts", Self.account("bob"))
      let one = #"{ provider: "rest", baseUrl: "\#(backend.url)" }"#
      _ = try sandbox.owner(try sandbox.configure("{ profiles: { a: \(one), b: \(one) } }"))
      let client = try SocketWire(sandbox.socket)
      _ = try client.call("login", Self.params("a", Self.account("ann")))
      _ = try client.call("login", Self.params("b", Self.account("bob")))
      _ = try client.call("forgotPassword", #"{"profile":"a","email":"bob@example.com"}"#)
      let token = try backend.token()
      _ = try client.call("resetPassword", #"{"profile":"a","token":"\#(token)","password":"example password 2"}"#)
      #expect(try client.call("getSession", #"{"profile":"a"}"#).required("state").string() == "authenticated")
      #expect(try client.call("getSession", #"{"profile":"b"}"#).required("state").string() == "signedOut")
      _ = try client.call("getAccessToken", #"{"profile":"a","forceRefresh":true}"#)
      #expect(try client.refusal("getAccessToken", #"{"profile":"b"}"#) == "loginRequired")
    }
  }

  @Test func `a backend that refuses an unknown address in its own way tells nobody by that`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox)
      _ = try sandbox.owner(try sandbox.configure(configuration(backend)))
      let client = try SocketWire(sandbox.socket)
      let refusals = [
        #""name":"status-404-json""#, #""name":"status-400-json""#, #""name":"error-in-200""#,
        #""name":"success-false""#, #""name":"status","status":422,"body":{"error":"unknown_address"}"#,
      ]
      for (number, refusal) in refusals.enumerated() {
        _ = try backend.ask("/misbehave", #"{"replace":true,"endpoint":"forgotPassword",\#(refusal)}"#)
        let params = #"{"email":"nobody-\#(number)@example.com"}"#
        #expect(try client.refusal("forgotPassword", params) == nil, "\(refusal)")
      }
      for (name, kind) in [("status-503-html", "providerUnavailable"), ("status-429-retry-seconds", "rateLimited")] {
        _ = try backend.ask("/misbehave", #"{"replace":true,"endpoint":"forgotPassword","name":"\#(name)"}"#)
        #expect(try client.refusal("forgotPassword", #"{"email":"ada@example.com"}"#) == kind)
      }
    }
  }

  @Test func `four logins leave one session at the backend`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, account: Self.account("ann"))
      _ = try backend.ask("/accounts", Self.account("bob"))
      _ = try sandbox.owner(try sandbox.configure(configuration(backend)))
      let client = try SocketWire(sandbox.socket)
      for name in ["ann", "ann", "bob", "ann"] { _ = try client.call("login", Self.account(name)) }
      // Nobody waits for what is revoked.
      let deadline = Patience.end
      while try logouts(at: backend).count < 3, BootClock.now < deadline { usleep(10_000) }
      #expect(try logouts(at: backend) == ["revoked", "revoked", "revoked"])
      _ = try client.call("getAccessToken", #"{"forceRefresh":true}"#)
      #expect(try client.call("getCurrentUser", #"{"maxAgeSeconds":0}"#).required("id").string() == "user-1")
    }
  }

  @Test func `an account is made, changed and removed`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox)
      _ = try sandbox.owner(try sandbox.configure(configuration(backend)))
      let client = try SocketWire(sandbox.socket)
      let account = #""email":"bob@example.com","password":"example password 1""#
      #expect(try client.call("register", "{\(account),\"name\":\"Bob\"}")["status"]?.string() == "authenticated")
      let mail = try backend.token()
      _ = try client.call("verifyEmail", "{\"token\":\"\(mail)\"}")
      #expect(try client.refusal("register", "{\(account)}") == "emailTaken")
      let changed = try client.call("updateProfile", #"{"changes":{"name":"Bob B.","phoneNumber":"+15550100999"}}"#)
      #expect(try changed["name"]?.string() == "Bob B." && changed["phoneNumberMasked"]?.string() == "+•••••••••99")
      let passwords = #"{"oldPassword":"example password 1","newPassword":"example password 2"}"#
      _ = try client.call("changePassword", passwords)
      #expect(try client.refusal("changePassword", passwords) == "invalidCredentials")
      _ = try client.call("deleteAccount", #"{"password":"example password 2"}"#)
      #expect(try client.call("getSession").required("state").string() == "signedOut")
      let accounts = try backend.ask("/accounts").required("accounts").elements().map {
        try $0.required("email").string()
      }
      #expect(accounts == ["ada@example.com"])
    }
  }

  @Test(arguments: ["env: \"SHOP_SECRET\"", "file: \"ROOT/secret\"", "command: [\"cat\", \"ROOT/secret\"]"])
  func `the client's password is fetched from where it is`(_ reference: String) async throws {
    try await Sandbox.run { sandbox in
      let secret = "demo secret: 100% & made up"
      sandbox.environment["SHOP_SECRET"] = reference.hasPrefix("env") ? secret : "wrong"
      try Directory.write(secret + "\n", to: sandbox.root + "/secret")
      chmod(sandbox.root + "/secret", 0o600)
      let backend = try RESTBackend(sandbox, shape: "oauth", ["--set", "clientAuth=basic"])
      let place = reference.replacing("ROOT", with: sandbox.root)
      let text = """
        { profiles: { default: { provider: "rest", baseUrl: "\(backend.url)", clientId: "demo-client",
                                 clientSecret: { \(place) }, mapping: { clientAuth: "basic" } } } }
        """
      _ = try sandbox.owner(try sandbox.configure(text))
      let client = try SocketWire(sandbox.socket)
      _ = try logIn(client, backend)
      _ = try client.accessToken()
    }
  }

  @Test func `pins, an authority of its own and the proxy of the start are obeyed`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, shape: "oauth", ["--tls"])
      // Nobody listens on this port, so whoever goes through it gets nowhere.
      sandbox.environment["https_proxy"] = "http://127.0.0.1:1"
      func configuration(_ pins: [String], _ proxy: String) -> String {
        let tls = "tls: { caFile: \"\(backend.caFile)\", pins: [\"\(pins.joined(separator: "\", \""))\"] }"
        return """
          { network: { proxy: "\(proxy)" },
            profiles: { default: { provider: "rest", baseUrl: "\(backend.url)", \(tls) } } }
          """
      }
      _ = try sandbox.owner(try sandbox.configure(configuration(backend.pins, "environment")))
      let client = try SocketWire(sandbox.socket)
      #expect(try client.refusal("login", Self.credentials) == "networkUnavailable")
      let wrong = ["sha256//" + String(repeating: "A", count: 43) + "=", backend.pins[1]]
      _ = try sandbox.configure(configuration(wrong, "none"))
      _ = try client.call("reloadConfig")
      #expect(try client.refusal("login", Self.credentials) == "tlsPinMismatch")
      #expect(try backend.ask("/ledger").required("entries").elements().isEmpty)
      _ = try sandbox.configure(configuration(backend.pins, "none"))
      _ = try client.call("reloadConfig")
      _ = try logIn(client, backend)
    }
  }

  /// Which of the libraries that are not linked a process has loaded, by the linker's own record (ld.so(8), LD_DEBUG).
  ///
  /// What the process maps is shown to root alone.
  private func loaded(_ program: Program, in sandbox: Sandbox) throws -> [String] {
    let record = String(decoding: try Directory.bytes(of: sandbox.root + "/loaded.\(program.pid)"), as: UTF8.self)
    guard record.contains("libsqlite3") else { throw TestFailure("the linker writes no file") }
    return ["libcurl", "libcrypto"].filter { record.contains($0) }
  }
}
