import JSON
import TestSupport
import Testing

/// Profiles beside one whose backend never answers.
@Suite(.standardTimeLimit) struct IsolationTests {
  private static func logIn(_ client: SocketWire, _ profile: String, _ backend: RESTBackend) throws {
    let credentials = #"{"profile":"\#(profile)","email":"ada@example.com","password":"example password 1"}"#
    let flow = try client.call("login", credentials).required("challenge").required("otpFlowId").string()
    _ = try client.call("verifyOtp", "{\"otpFlowId\":\"\(flow)\",\"code\":\"\(try backend.code())\"}")
  }

  @Test func `a backend that never answers delays no refresh, logout or login of another profile`() async throws {
    try await Sandbox.run { sandbox in
      let (dead, alive) = (try RESTBackend(sandbox), try RESTBackend(sandbox))
      let profiles = """
        { profiles: { dead: { provider: "rest", baseUrl: "\(dead.url)" },
                      alive: { provider: "rest", baseUrl: "\(alive.url)" } } }
        """
      _ = try sandbox.owner(try sandbox.configure(profiles))
      let (stuck, client) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket))
      try Self.logIn(client, "dead", dead)
      try Self.logIn(client, "alive", alive)
      _ = try dead.ask("/misbehave", #"{"name":"stall-before-reading","times":-1}"#)
      // More than may be under way at one server at a time.
      for id in 1...20 {
        let params = #"{"profile":"dead","maxAgeSeconds":0}"#
        try stuck.send(Array(#"{"jsonrpc":"2.0","id":\#(id),"method":"getCurrentUser","params":\#(params)}"#.utf8))
      }
      let forced = #"{"profile":"dead","forceRefresh":true}"#
      try stuck.send(Array(#"{"jsonrpc":"2.0","id":21,"method":"getAccessToken","params":\#(forced)}"#.utf8))
      let token = try client.call("getAccessToken", #"{"profile":"alive"}"#).required("accessToken").string()
      let fresh = try client.call("getAccessToken", #"{"profile":"alive","forceRefresh":true}"#)
      #expect(try fresh.required("accessToken").string() != token)
      let user = try client.call("getCurrentUser", #"{"profile":"alive","maxAgeSeconds":0}"#)
      #expect(try user.required("id").string() == "user-1")
      let ended = try client.call("logout", #"{"profile":"alive"}"#).required("results").elements()
      #expect(try ended.map { try $0.required("serverRevoked").string() } == ["yes"])
      try Self.logIn(client, "alive", alive)
      // All of that was answered while the dead backend still held what it was asked.
      #expect(try dead.ask("/release", "{}").required("released").integer() > 0)
    }
  }
}
