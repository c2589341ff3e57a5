import JSON
import LinuxSystem
import TestSupport
import Testing

/// The embedded provider's messages, sent by a real broker to a real mail server and to a service for SMS.
@Suite(.standardTimeLimit) struct MessageDeliveryTests {
  private static let credentials = #"{"email":"ada@example.com","password":"example password 1"}"#

  /// A broker that sends its mail by a server, and a client whose account was just made there.
  private static func registered(
    _ sandbox: Sandbox, _ server: MailBackend.Server
  ) throws -> (MailBackend, SocketWire) {
    let backend = try MailBackend(sandbox)
    _ = try sandbox.owner(try sandbox.configure("{ local: { delivery: \(try backend.delivery(server, sandbox)) } }"))
    let client = try SocketWire(sandbox.socket)
    try client.register()
    return (backend, client)
  }

  @Test(arguments: MailBackend.Server.allCases)
  func `the code in the mail that a server got finishes the login`(_ server: MailBackend.Server) async throws {
    try await Sandbox.run { sandbox in
      let (backend, client) = try Self.registered(sandbox, server)
      try backend.enrol(client)
      let challenge = try client.call("login", Self.credentials).required("challenge")
      #expect(try challenge.required("method").string() == "email")
      let mail = try backend.mail("Your login code")
      #expect(try mail.required("to").elements().map { try $0.string() } == ["ada@example.com"])
      #expect(try mail.required("tls").bool())
      #expect(try mail.required("user").string() == backend.user)
      let flow = try challenge.required("otpFlowId").string()
      let session = try client.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(try backend.code())"}"#)
      #expect(try session.required("status").string() == "authenticated")
      _ = try client.accessToken()
      #expect(Directory.names(in: sandbox.outbox).isEmpty)
    }
  }

  @Test(arguments: MailBackend.Server.allCases)
  func `the token in the mail that a server got resets a password`(_ server: MailBackend.Server) async throws {
    try await Sandbox.run { sandbox in
      let (backend, client) = try Self.registered(sandbox, server)
      _ = try client.call("forgotPassword", #"{"email":"ada@example.com"}"#)
      let reset = #"{"token":"\#(try backend.token())","password":"example password 2"}"#
      _ = try client.call("resetPassword", reset)
      #expect(try client.refusal("login", Self.credentials) == "invalidCredentials")
      let login = try client.call("login", #"{"email":"ada@example.com","password":"example password 2"}"#)
      #expect(try login.required("status").string() == "authenticated")
      #expect(Directory.names(in: sandbox.outbox).isEmpty)
    }
  }

  @Test(arguments: [
    ("", ["To", "From", "Body"]),
    (#"fields: { to: "recipient", from: "originator", body: "text" },"#, ["recipient", "originator", "text"]),
  ])
  func `the code in the form that a service for SMS got finishes the login, whatever its fields are called`(
    _ fields: String, _ names: [String]
  ) async throws {
    try await Sandbox.run { sandbox in
      let backend = try MailBackend(sandbox)
      let password = String(UInt64.random(in: 1 << 63 ... .max), radix: 16)
      sandbox.environment["SMS_PASSWORD"] = password
      _ = try sandbox.owner(
        try sandbox.configure(
          """
          { local: { delivery: { channel: "sms", url: "\(backend.formURL)", from: "+15005550006", \(fields)
                                 user: "AC0", password: { env: "SMS_PASSWORD" } } } }
          """))
      let client = try SocketWire(sandbox.socket)
      let account = Self.credentials.dropLast() + #","phoneNumber":"+491511234567"}"#
      let challenge = try client.call("register", String(account)).required("challenge")
      let form = try backend.form()
      #expect(try form.required("login").string() == "AC0:\(password)")
      let values = try names.map { try form.required("fields").required($0).string() }
      #expect(try form.required("fields").members().count == names.count)
      #expect(values[..<2] == ["+491511234567", "+15005550006"])
      let flow = try challenge.required("otpFlowId").string()
      let code = MailBackend.code(in: values[2])
      let session = try client.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(code)"}"#)
      #expect(try session.required("status").string() == "authenticated")
      #expect(Directory.names(in: sandbox.outbox).isEmpty)
    }
  }

  @Test func `neither the mail server's password nor what it sends is found anywhere else`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try MailBackend(sandbox)
      let delivery = try backend.delivery(.startTLS, sandbox)
      let owner = try sandbox.owner(
        try sandbox.configure(#"{ logLevel: "debug", local: { otp: { length: 10 }, delivery: \#(delivery) } }"#))
      let watcher = try SocketWire(sandbox.socket)
      _ = try watcher.call("subscribe")
      let client = try SocketWire(sandbox.socket)
      try client.register()
      try backend.enrol(client)
      var found = Evidence()
      _ = try client.call("login", Self.credentials)
      _ = try client.call("forgotPassword", #"{"email":"ada@example.com"}"#)
      found.marks = [
        SecretMark("the mail server's password", backend.password), SecretMark("the code", try backend.code()),
        SecretMark("the token", try backend.token()),
      ]
      // The first code, the notice of the second factor, the code of the login and the token.
      _ = try Patience.wait { try client.deliveryCount("sent") == 4 }
      // What a refusal is told with has nothing of the message either.
      try backend.refuse("550 no ada@example.com here")
      _ = try client.call("login", Self.credentials)
      _ = try Patience.wait { try client.deliveryCount("failed") == 1 }
      found.said += [
        String(decoding: try client.call("getStatus").text, as: UTF8.self), try sandbox.command("status").output,
      ]
      let failure = "\(backend.url(.startTLS)): the mail server refused the recipient (550)"
      #expect(found.said.allSatisfy { $0.contains(failure) }, "\(found.said)")
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      found.said += try watcher.readToEnd()
      found.collect(Directory.files(below: sandbox.state))
      found.files["standard error"] = Array(owner.errorText.utf8)
      let line = #" warning: a message was not sent channel=smtp reason="\#(failure)""#
      #expect(owner.errorText.contains(line), "\(owner.errorText)")
      #expect(found.said.count > 2 && found.files.count > 3)
      #expect(found.leaks.isEmpty && !owner.errorText.contains("ada@"))
    }
  }
}
