import JSON
import TestSupport
import Testing

/// What people do with their accounts at the embedded provider.
@Suite(.standardTimeLimit) struct EmbeddedAccountTests {
  private static func credentials(_ number: Int) -> String {
    #"{"email":"ada@example.com","password":"example password \#(number)"}"#
  }

  @Test func `a forgotten password is reset, which ends the sessions, then changed, and the account deleted`()
    async throws
  {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let client = try SocketWire(sandbox.socket)
      try client.register()
      for email in ["nobody@example.com", "ada@example.com"] {
        #expect(try client.call("forgotPassword", #"{"email":"\#(email)"}"#).members().isEmpty)
      }
      let token = try Outbox.newest("token", in: sandbox.outbox)
      #expect(try client.refusal("resetPassword", #"{"token":"\#(token)","password":"short"}"#) == "validationFailed")
      let reset = #"{"token":"\#(token)","password":"example password 2"}"#
      #expect(try client.call("resetPassword", reset).members().isEmpty)
      #expect(try client.refusal("resetPassword", reset) == "validationFailed")
      #expect(try client.call("getSession").required("state").string() == "signedOut")
      #expect(try client.refusal("login", Self.credentials(1)) == "invalidCredentials")
      #expect(try client.call("login", Self.credentials(2)).required("status").string() == "authenticated")
      let passwords = #"{"oldPassword":"example password 2","newPassword":"example password 3"}"#
      _ = try client.call("changePassword", passwords)
      #expect(try client.refusal("changePassword", passwords) == "invalidCredentials")
      _ = try client.call("getAccessToken", #"{"forceRefresh":true}"#)
      #expect(try client.refusal("deleteAccount", #"{"password":"example password 2"}"#) == "invalidCredentials")
      _ = try client.call("deleteAccount", #"{"password":"example password 3"}"#)
      #expect(try client.call("getSession").required("state").string() == "signedOut")
      #expect(Directory.names(in: sandbox.outbox).isEmpty)
      try client.register()
    }
  }

  @Test func `another address is the session's from then on, over a crash too`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      var client = try SocketWire(sandbox.socket)
      try client.register()
      _ = try client.call("updateProfile", #"{"changes":{"email":"new@example.com"}}"#)
      sandbox.bury(owner)
      _ = try sandbox.owner()
      client = try SocketWire(sandbox.socket)
      #expect(try client.call("getSession")["user"]?["email"]?.string() == "new@example.com")
      let proof = #"{"password":"example password 1"}"#
      #expect(try client.call("reauthenticate", proof)["status"]?.string() == "authenticated")
    }
  }

  @Test func `an address that is changed by its confirmation is the session's as well, over a crash too`() async throws
  {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(#"{ local: { emailVerification: "required" } }"#)
      let owner = try sandbox.owner(options)
      var client = try SocketWire(sandbox.socket)
      func verify(_ address: String) throws {
        let token = try Outbox.newest("token", to: address, in: sandbox.outbox)
        _ = try client.call("verifyEmail", #"{"token":"\#(token)"}"#)
      }
      _ = try client.call("register", Self.credentials(1))
      try verify("ada@example.com")
      _ = try client.call("login", Self.credentials(1))
      _ = try client.call("updateProfile", #"{"changes":{"email":"new@example.com"}}"#)
      try verify("new@example.com")
      // The provider is asked for it behind the answer.
      let isNew = try Patience.wait { try client.call("getSession")["user"]?["email"]?.string() == "new@example.com" }
      #expect(isNew)
      sandbox.bury(owner)
      _ = try sandbox.owner(options)
      client = try SocketWire(sandbox.socket)
      #expect(try client.call("getSession")["user"]?["email"]?.string() == "new@example.com")
    }
  }

  @Test func `a login waits until the address is verified`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner(try sandbox.configure(#"{ local: { emailVerification: "required" } }"#))
      let client = try SocketWire(sandbox.socket)
      let status = try client.call("register", Self.credentials(1)).required("status").string()
      #expect(status == "emailVerificationRequired")
      #expect(try client.refusal("login", Self.credentials(1)) == "emailUnverified")
      let token = try Outbox.newest("token", in: sandbox.outbox)
      _ = try client.call("verifyEmail", #"{"token":"\#(token)"}"#)
      #expect(try client.refusal("verifyEmail", #"{"token":"\#(token)"}"#) == "validationFailed")
      let session = try client.call("login", Self.credentials(1)).required("session")
      #expect(try session["user"]?["emailVerified"]?.bool() == true)
    }
  }
}
