import JSON
import LinuxSystem
import TestSupport
import Testing

/// A refresh token that comes a second time: a vault that was set back has one that is spent.
@Suite(.standardTimeLimit) struct RefreshReplayTests {
  private static let refresh = #"{"forceRefresh":true}"#

  /// Makes an account with a session on each of two profiles, and spends the refresh token of the first one, which the
  /// vault has again afterwards.
  private static func setBack(_ sandbox: Sandbox, _ options: [String]) throws {
    let vault = sandbox.state + "/vault.sqlite"
    try serve(sandbox, options) { client in
      try client.register()
      let other = #"{"profile":"other","email":"ada@example.com","password":"example password 1"}"#
      #expect(try client.call("login", other).required("status").string() == "authenticated")
    }
    let old = try Directory.bytes(of: vault)
    try serve(sandbox, options) { client in _ = try client.call("getAccessToken", refresh) }
    try DamageTests.Loss.lastChanges.strike(vault, old: old)
  }

  /// Does something with a broker that ends in order afterwards.
  private static func serve(_ sandbox: Sandbox, _ options: [String], _ body: (SocketWire) throws -> Void) throws {
    let owner = try sandbox.owner(options)
    try body(try SocketWire(sandbox.socket))
    try owner.send(.terminate)
    #expect(try owner.wait() == 0)
  }

  @Test func `a replayed refresh token ends its own session and no other, with a record`() async throws {
    try await Sandbox.run { sandbox in
      // No refresh by time comes between, however slow the machine is.
      let options = try sandbox.configure(
        """
        { profiles: { default: { provider: "local" }, other: { provider: "local" } },
          local: { accessTokenLifetimeSeconds: 86400 } }
        """)
      try Self.setBack(sandbox, options)
      _ = try sandbox.owner(options)
      let client = try SocketWire(sandbox.socket)
      // What an older vault holds is not spent while the access token lives.
      #expect(try client.refusal("getAccessToken", Self.refresh) == "refreshOutcomeUnknown")
      #expect(
        try client.refusal("getAccessToken", #"{"profile":"other","forceRefresh":true}"#) == "refreshOutcomeUnknown")
      let token = try client.call("getAccessToken").required("accessToken").string()
      #expect(try client.refusal("reportRejected", #"{"accessToken":"\#(token)"}"#) == "sessionExpired")
      // The other one was not spent since, which the provider alone can tell.
      let other = try client.call("getAccessToken", #"{"profile":"other"}"#).required("accessToken").string()
      _ = try client.call("reportRejected", #"{"profile":"other","accessToken":"\#(other)"}"#)
      #expect(try client.call("getAccessToken", #"{"profile":"other"}"#).required("accessToken").string() != other)
      let sessions = try client.call("listLocalSessions", #"{"user":"ada@example.com"}"#)
      #expect(try sessions.required("sessions").elements().count == 1)
      let audit = try client.call("listLocalAudit")
      let events = try audit.required("records").elements().map { try $0.required("event").string() }
      #expect(events.count { $0 == "refreshReused" } == 1 && events.last == "refreshReused", "\(events)")
      #expect(try audit.required("intact").bool())
    }
  }
}
