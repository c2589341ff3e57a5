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
        #expect(line.contains(" debug: provider call") && line.contains("host=\(authority) "), "\(purpose) \(line)")
        #expect(line.contains(" status=200 ") && line.contains(" milliseconds="), "\(line)")
      }
      for secret in ["example password", "ada@", token, try backend.code()] {
        #expect(!owner.errorText.contains(secret), "\(secret)")
      }
    }
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
    }
  }
}
