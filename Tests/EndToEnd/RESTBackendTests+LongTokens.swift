import JSON
import TestSupport
import Testing

/// Tokens as long as the longest that providers issue.
extension RESTBackendTests {
  @Test func `tokens of sixty thousand bytes are there after a restart, and are spent`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, ["--set", "tokenByteCount=60000"])
      let arguments = try sandbox.configure(configuration(backend))
      let first = try sandbox.owner(arguments)
      let client = try SocketWire(sandbox.socket)
      _ = try logIn(client, backend)
      let token = try client.accessToken()
      #expect(token.utf8.count == 60_000)
      sandbox.bury(first)
      _ = try sandbox.owner(arguments)
      let again = try SocketWire(sandbox.socket)
      #expect(try again.accessToken() == token)
      #expect(try backend.refreshes().isEmpty)
      let fresh = try again.call("getAccessToken", #"{"forceRefresh":true}"#).required("accessToken").string()
      #expect(fresh.utf8.count == 60_000 && fresh != token)
      #expect(try backend.refreshes() == ["rotated"])
    }
  }
}
