import JSON
import LinuxSystem
import TestSupport
import Testing

/// A mail server that is dead, refuses or keeps silent holds up no more than the message that it does not take.
@Suite(.standardTimeLimit) struct DeadMailServerTests {
  private static let password = "example password 1"

  /// A configuration in which another code may be asked for at once.
  private static func configuration(_ delivery: String) -> String {
    """
    { profiles: { ada: { provider: "local" }, bob: { provider: "local" } },
      local: { otp: { resendCooldownSeconds: 0 }, delivery: \(delivery) } }
    """
  }

  /// Delivery by a server that is not there, or says nothing.
  private static func delivery(port: Int) -> String {
    #"{ channel: "smtp", url: "smtp://127.0.0.1:\#(port)", from: "no-reply@example.com" }"#
  }

  private static func credentials(_ name: String) -> String {
    #"{"profile":"\#(name)","email":"\#(name)@example.com","password":"\#(password)"}"#
  }

  /// Makes Ada's account, whose codes go by e-mail, of which the first lies in the outbox; its backup codes.
  private static func signUp(_ client: SocketWire, _ sandbox: Sandbox) throws -> [String] {
    _ = try client.call("register", credentials("ada"))
    let update = try client.call("updateProfile", #"{"profile":"ada","changes":{"twoFactor":"email"}}"#)
    let flow = try update.required("enrolment").required("otpFlowId").string()
    let code = try Outbox.newestCode(in: sandbox.outbox)
    _ = try client.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(code)"}"#)
    let made = try client.call("generateBackupCodes", #"{"profile":"ada","password":"\#(password)"}"#)
    return try made.required("backupCodes").elements().map { try $0.string() }
  }

  /// Logs in as far as the code; the login's handle.
  private static func logIn(_ client: SocketWire) throws -> String {
    try client.call("login", credentials("ada")).required("challenge").required("otpFlowId").string()
  }

  /// Finishes a login with another code, which the mail server gets.
  private static func finish(_ flow: String, _ client: SocketWire, _ backend: MailBackend) throws {
    try backend.reset()
    _ = try client.call("resendOtp", #"{"otpFlowId":"\#(flow)"}"#)
    let answer = #"{"otpFlowId":"\#(flow)","code":"\#(try backend.code())"}"#
    #expect(try client.call("verifyOtp", answer).required("status").string() == "authenticated")
  }

  /// Finishes a login with a backup code.
  private static func finish(_ flow: String, _ client: SocketWire, backupCode: String) throws {
    let result = try client.call("verifyBackupCode", #"{"otpFlowId":"\#(flow)","backupCode":"\#(backupCode)"}"#)
    #expect(try result.required("status").string() == "authenticated")
    #expect(try result.required("backupCodesRemaining").integer() == 9)
  }

  /// Waits until so many messages were given up, then looks at what is told of that.
  private static func expectFailures(
    _ number: Int, _ failure: String, _ client: SocketWire, _ sandbox: Sandbox
  ) throws {
    _ = try Patience.wait { try client.deliveryCount("failed") >= number }
    let way = try #require(try client.delivery())
    #expect(try way.required("channel").string() == "smtp")
    #expect(try way.required("lastFailure").string() == failure)
    #expect(way["lastFailureAt"] != nil)
    let status = try sandbox.command("status").output
    #expect(status.contains("messages smtp: 0 sent, \(number) failed; \(failure) ("), "\(status)")
  }

  @Test func `where nobody listens a login goes on once another server is configured`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try MailBackend(sandbox)
      _ = try sandbox.owner(try sandbox.configure(Self.configuration(#"{ channel: "outbox" }"#)))
      let client = try SocketWire(sandbox.socket)
      _ = try Self.signUp(client, sandbox)
      _ = try sandbox.configure(Self.configuration(Self.delivery(port: 1)))
      _ = try client.call("reloadConfig")
      let flow = try Self.logIn(client)
      #expect(try client.refusal("resendOtp", #"{"otpFlowId":"\#(flow)"}"#) == "providerUnavailable")
      try Self.expectFailures(2, "smtp://127.0.0.1:1: the server cannot be reached", client, sandbox)
      _ = try sandbox.configure(Self.configuration(try backend.delivery(.startTLS, sandbox)))
      _ = try client.call("reloadConfig")
      try Self.finish(flow, client, backend)
      _ = try Patience.wait { try client.deliveryCount("sent") == 1 }
      let way = try #require(try client.delivery())
      #expect(way["lastFailure"] == nil && way["lastFailureAt"] == nil)
    }
  }

  @Test(arguments: [450, 550])
  func `where a server refuses, a login goes on with another code later, or with a backup code`(
    _ status: Int
  ) async throws {
    try await Sandbox.run { sandbox in
      let backend = try MailBackend(sandbox)
      let server = MailBackend.Server.startTLS
      let options = try sandbox.configure(Self.configuration(#"{ channel: "outbox" }"#))
      _ = try sandbox.owner(options)
      let client = try SocketWire(sandbox.socket)
      let backupCodes = try Self.signUp(client, sandbox)
      _ = try sandbox.configure(Self.configuration(try backend.delivery(server, sandbox)))
      _ = try client.call("reloadConfig")
      try backend.refuse("\(status) not now")
      let flow = try Self.logIn(client)
      let failure = "\(backend.url(server)): the mail server refused the recipient (\(status))"
      try Self.expectFailures(1, failure, client, sandbox)
      try Self.finish(flow, client, backend)
      try backend.refuse("\(status) not now")
      try Self.finish(try Self.logIn(client), client, backupCode: backupCodes[0])
    }
  }

  @Test func `while a server keeps silent, another user's token is refreshed`() async throws {
    try await Sandbox.run { sandbox in
      // Its connections are never accepted: the kernel makes them, and nothing is said.
      let silent = try LoopbackSocket.listen(on: .ipv4, port: 0)
      defer { silent.stop() }
      _ = try sandbox.owner(try sandbox.configure(Self.configuration(#"{ channel: "outbox" }"#)))
      let (ada, bob) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket))
      _ = try Self.signUp(ada, sandbox)
      _ = try bob.call("register", Self.credentials("bob"))
      _ = try sandbox.configure(Self.configuration(Self.delivery(port: silent.port)))
      _ = try bob.call("reloadConfig")
      // On a busy machine Ada's answer, which takes seconds, may all the same be there before Bob was asked for.
      let isMeanwhile = try (1...5).contains { _ in try Self.isServed(bob, whileWaiting: ada) }
      #expect(isMeanwhile)
    }
  }

  /// Whether Bob's token is refreshed while Ada's login still waits for the mail server.
  private static func isServed(_ bob: SocketWire, whileWaiting ada: SocketWire) throws -> Bool {
    _ = try Patience.wait { try bob.deliveryCount("underWay") == 0 }
    let login = #"{"jsonrpc":"2.0","id":1,"method":"login","params":\#(credentials("ada"))}"#
    try ada.send(Array(login.utf8))
    _ = try Patience.wait { try bob.deliveryCount("underWay") == 1 }
    _ = try bob.call("getAccessToken", #"{"profile":"bob","forceRefresh":true}"#)
    let isMeanwhile = try !ada.hasMore()
    let challenge = try ada.nextNode().required("result").required("challenge")
    #expect(try challenge.required("backupCodesAllowed").bool())
    return isMeanwhile
  }
}
