import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// What the log says of calls to the provider.
extension RESTBackendTests {
  @Test func `each call to the provider has a line in the log, without any secret`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, shape: "oauth")
      let text = configuration(backend).dropLast(1) + #", logLevel: "debug" }"#
      let owner = try sandbox.owner(try sandbox.configure(String(text)))
      let client = try SocketWire(sandbox.socket)
      _ = try logIn(client, backend)
      let token = try client.accessToken()
      _ = try client.call("getAccessToken", #"{"forceRefresh":true}"#)
      _ = try client.call("logout")
      let authority = try #require(backend.url.split(separator: "/").last)
      let end = Patience.end
      while owner.errorText.split(separator: "provider call").count < 5, BootClock.now < end {
        _ = try client.call("ping")
      }
      let lines = owner.errorText.split(separator: "\n").filter { $0.contains("provider call") }
      for purpose in ["/auth/login", "/auth/otp/verify", "/auth/refresh", "/auth/logout"] {
        let line = lines.first { $0.contains("path=\(purpose) ") } ?? ""
        #expect(
          line.contains(" debug: provider call profile=default ") && line.contains("host=\(authority) "),
          "\(purpose) \(line)")
        #expect(line.contains(" status=200 ") && line.contains(" milliseconds="), "\(line)")
      }
      for secret in ["example password", "ada@", token, try backend.code()] {
        #expect(!owner.errorText.contains(secret), "\(secret)")
      }
    }
  }

  @Test func `two profiles at one host are told apart in the log`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox)
      let profile = #"{ provider: "rest", baseUrl: "\#(backend.url)" }"#
      let owner = try sandbox.owner(
        try sandbox.configure(#"{ profiles: { one: \#(profile), two: \#(profile) }, logLevel: "debug" }"#))
      let client = try SocketWire(sandbox.socket)
      for name in ["one", "two"] {
        let credentials = Self.credentials.dropLast() + #","profile":"\#(name)"}"#
        _ = try client.refusal("login", String(credentials))
        try expectLine("provider call profile=\(name) purpose=", " path=/auth/login ", of: owner, client)
      }
    }
  }

  @Test func `each call to the embedded provider has a line in the log, without any secret`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner(
        try sandbox.configure(#"{ profiles: { home: { provider: "local" } }, logLevel: "debug" }"#))
      let client = try SocketWire(sandbox.socket)
      try client.register()
      let token = try client.call("getAccessToken", #"{"forceRefresh":true}"#).required("accessToken").string()
      let wrong = #"{"email":"ada@example.com","password":"not the password"}"#
      #expect(try client.refusal("login", wrong) == "invalidCredentials")
      let begin = "debug: provider call profile=home purpose="
      try expectLine(begin + "register provider=local milliseconds=", of: owner, client)
      try expectLine(begin + "refresh provider=local milliseconds=", of: owner, client)
      try expectLine(begin + "login provider=local failure=invalidCredentials milliseconds=", of: owner, client)
      _ = try client.call("checkProvider")
      try expectLine(begin + "examine provider=local milliseconds=", of: owner, client)
      _ = try client.call("checkProviders")
      try expectLine(begin + "probe provider=local milliseconds=", of: owner, client)
      _ = try client.call("logout")
      try expectLine(begin + "revoke provider=local milliseconds=", of: owner, client)
      for secret in ["example password", "not the password", "ada@", token] {
        #expect(!owner.errorText.contains(secret), "\(secret)")
      }
    }
  }

  /// Waits for a line that has both texts; each look costs one round trip to the broker.
  private func expectLine(_ text: String, _ other: String = "", of owner: Program, _ client: SocketWire) throws {
    let end = Patience.end
    func isThere() -> Bool {
      owner.errorText.split(separator: "\n").contains { $0.contains(text) && (other.isEmpty || $0.contains(other)) }
    }
    while !isThere(), BootClock.now < end { _ = try client.call("ping") }
    #expect(isThere(), "\(text)\(other): \(owner.errorText)")
  }

  @Test func `a call that fails has a line at the usual level`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(
        #"{ profiles: { default: { provider: "rest", baseUrl: "http://127.0.0.1:1/api" } } }"#)
      let owner = try sandbox.owner(options)
      let client = try SocketWire(sandbox.socket)
      #expect(try client.refusal("login", Self.credentials) == "networkUnavailable")
      let end = Patience.end
      while !owner.errorText.contains("provider call"), BootClock.now < end { _ = try client.call("ping") }
      let line = owner.errorText.split(separator: "\n").first { $0.contains("provider call") } ?? ""
      #expect(line.contains(" warning: ") && line.contains("host=127.0.0.1:1 "), "\(line)")
      #expect(line.contains(" failure=connectFailed"), "\(line)")
      try expectLine(
        "a call failed method=login kind=networkUnavailable profile=default reason=", of: owner, client)
      // One failure has one line.
      #expect(!owner.errorText.contains("a login failed"))
    }
  }
}
