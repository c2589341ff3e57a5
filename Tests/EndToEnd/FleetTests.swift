import JSON
import LinuxSystem
import TestSupport
import Testing

/// Several brokers with one session in a PostgreSQL database; the provider's ledger judges.
@Suite(.standardTimeLimit, .enabled(if: DatabaseCluster.programs != nil, "\(DatabaseCluster.absence)"))
struct FleetTests {
  /// The brokers of a fleet, their database and their provider.
  private struct Stage {
    let sandbox: Sandbox
    let cluster: DatabaseCluster
    let backend: RESTBackend
    let arguments: [String]

    init(_ sandbox: Sandbox) throws {
      self.sandbox = sandbox
      cluster = try DatabaseCluster()
      backend = try RESTBackend(
        sandbox, account: #"{"email":"ada@example.com","password":"example password 1","name":"Ada"}"#)
      arguments = try sandbox.configure(
        """
        {store: {fleet: "f", pollSeconds: 1, postgres: {connection: "\(cluster.connection)"},
                 key: {file: "\(sandbox.root)/fleet.key"}},
         profiles: {shop: {provider: "rest", baseUrl: "\(backend.url)", shared: true}, own: {provider: "local"}}}
        """)
      let made = try sandbox.run(
        BuiltPrograms.daemon, ["--fleet-init", "--new-key", sandbox.root + "/fleet.key"] + arguments)
      #expect(made.code == 0, "\(made.errors)")
    }

    /// Starts a member, and gives a connection to it.
    func member(_ name: String) throws -> Member {
      let state = "\(sandbox.root)/\(name)"
      return Member(
        program: try sandbox.owner(["--state", state] + arguments), wire: try SocketWire(state + "/run/broker.sock"))
    }
  }

  /// One broker.
  private struct Member {
    let program: Program
    let wire: SocketWire

    /// The token of the shared session; a new one where that is wanted.
    func token(new: Bool = false) throws -> String {
      try wire.call("getAccessToken", #"{"profile":"shop","forceRefresh":\#(new)}"#).required("accessToken").string()
    }

    /// The state of the shared session.
    func state() throws -> String {
      try wire.call("getSession", #"{"profile":"shop"}"#).required("state").string()
    }

    /// Logs in, with the proof that this takes where there is a session.
    func logIn() throws {
      let result = try wire.call(
        "login", #"{"profile":"shop","email":"ada@example.com","password":"example password 1"}"#)
      #expect(try result.required("status").string() == "authenticated")
    }
  }

  private static func run(_ body: @Sendable (Stage) throws -> Void) async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      defer { stage.cluster.end() }
      try body(stage)
    }
  }

  @Test func `a login, a refresh and a logout of one member are every member's`() async throws {
    try await Self.run { stage in
      let (one, two) = (try stage.member("one"), try stage.member("two"))
      try one.logIn()
      #expect(Patience.wait { (try? two.state()) == "authenticated" })
      let first = try one.token()
      #expect(try two.token() == first)
      let second = try two.token(new: true)
      #expect(second != first)
      #expect(try Patience.wait { try one.token() == second })
      // One that comes later knows the session from its first answer on.
      let three = try stage.member("three")
      #expect(try three.token() == second)
      _ = try three.wire.call("logout", #"{"profile":"shop"}"#)
      #expect(Patience.wait { (try? one.wire.refusal("getAccessToken", #"{"profile":"shop"}"#)) == "loginRequired" })
      #expect(Patience.wait { (try? two.state()) == "signedOut" })
      #expect(try stage.backend.refreshes() == ["rotated"])
    }
  }

  @Test func `whoever wants new tokens at once, the provider is asked by one after the other`() async throws {
    try await Self.run { stage in
      let members = try (1...4).map { try stage.member("m\($0)") }
      try members[0].logIn()
      for member in members { #expect(Patience.wait { (try? member.state()) == "authenticated" }) }
      for _ in 1...5 {
        let params = #"{"profile":"shop","forceRefresh":true}"#
        let wish = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":\#(params)}"#
        for member in members { try member.wire.send(Array(wish.utf8)) }
        for member in members { #expect(try member.wire.nextNode()["result"] != nil) }
      }
      let refreshes = try stage.backend.refreshes()
      #expect(refreshes.count >= 5 && refreshes.allSatisfy { $0 == "rotated" }, "\(refreshes)")
    }
  }

  @Test func `without the database the living token is served, and nothing is refreshed`() async throws {
    try await Self.run { stage in
      let (one, two) = (try stage.member("one"), try stage.member("two"))
      try one.logIn()
      #expect(Patience.wait { (try? two.state()) == "authenticated" })
      let token = try two.token()
      try stage.cluster.signal(.kill)
      #expect(Patience.wait { (try? two.state()) == "offline" })
      #expect(try two.token() == token)
      #expect(try two.wire.refusal("getAccessToken", #"{"profile":"shop","forceRefresh":true}"#) == "storeFailed")
      // One that starts without it serves its own profiles, and says why it does not know the session.
      let three = try stage.member("three")
      _ = try three.wire.call("ping")
      #expect(try three.wire.refusal("getAccessToken", #"{"profile":"shop"}"#) == "storeFailed")
      #expect(try three.state() == "offline")
      try stage.cluster.start()
      #expect(Patience.wait { (try? three.token()) == token })
      #expect(Patience.wait { (try? two.token(new: true)).map { $0 != token } ?? false })
      #expect(try stage.backend.refreshes() == ["rotated"])
    }
  }

  @Test func `a member that is killed while it refreshes costs no session`() async throws {
    try await Self.run { stage in
      let (one, two) = (try stage.member("one"), try stage.member("two"))
      try one.logIn()
      #expect(Patience.wait { (try? two.state()) == "authenticated" })
      let token = try two.token()
      _ = try stage.backend.ask("/misbehave", #"{"endpoint":"refresh","name":"drop-after-commit"}"#)
      // The reply is lost, and so is the member: nobody sends the token again while the access token lives.
      let refusal = try one.wire.refusal("getAccessToken", #"{"profile":"shop","forceRefresh":true}"#)
      #expect(refusal == "refreshOutcomeUnknown")
      stage.sandbox.bury(one.program)
      let wish = #"{"profile":"shop","forceRefresh":true,"timeoutSeconds":2}"#
      #expect(try two.wire.refusal("getAccessToken", wish) == "deadlineExceeded")
      #expect(try two.token() == token)
      #expect(try stage.backend.refreshes().count == 1)
    }
  }
}
