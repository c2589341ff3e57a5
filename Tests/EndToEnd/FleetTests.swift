import JSON
import LinuxSystem
import TestSupport
import Testing

/// Several brokers with one session in a PostgreSQL database; the provider's ledger judges.
@Suite(.standardTimeLimit, .enabled(if: DatabaseCluster.programs != nil, "\(DatabaseCluster.absence)"))
struct FleetTests {
  @Test func `a login, a refresh and a logout of one member are every member's`() async throws {
    try await FleetStage.run { stage in
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

  /// A direct connection, and a pool that gives each client one.
  private static let tellingWays = [nil, DatabaseCluster.PoolMode.session].filter {
    $0 == nil || DatabaseCluster.pooler != nil
  }
  /// A reading by the period comes after three quarters of it at the earliest.
  private static let earliestPoll = Duration.seconds(45)

  /// A login, new tokens and a logout at either of two members are the other's as well.
  private static func expectToFollow(_ one: FleetMember, _ two: FleetMember) throws {
    try one.logIn()
    #expect(Patience.wait { (try? two.state()) == "authenticated" })
    let token = try two.token(new: true)
    #expect(try Patience.wait { try one.token() == token })
    _ = try one.wire.call("logout", #"{"profile":"shop"}"#)
    #expect(Patience.wait { (try? two.state()) == "signedOut" })
  }

  @Test(arguments: tellingWays) func `a member is told of what another one writes, long before it would look`(
    _ mode: DatabaseCluster.PoolMode?
  ) async throws {
    try await FleetStage.run(poll: 60, mode) { stage in
      let (one, two) = (try stage.member("one"), try stage.member("two"))
      // Both have read, and listen.
      for member in [one, two] { #expect(Patience.wait { (try? member.state()) == "signedOut" }) }
      let begin = BootClock.now
      try Self.expectToFollow(one, two)
      #expect(BootClock.now - begin < Self.earliestPoll)
    }
  }

  @Test func `after the database was away a member is told again`() async throws {
    try await FleetStage.run(poll: 60) { stage in
      let (one, two) = (try stage.member("one"), try stage.member("two"))
      for member in [one, two] { #expect(Patience.wait { (try? member.state()) == "signedOut" }) }
      try one.logIn()
      #expect(Patience.wait { (try? two.state()) == "authenticated" })
      try stage.cluster.signal(.kill)
      for member in [one, two] { #expect(Patience.wait { (try? member.state()) == "offline" }) }
      try stage.cluster.start()
      for member in [one, two] { #expect(Patience.wait { (try? member.state()) == "authenticated" }) }
      let begin = BootClock.now
      _ = try one.wire.call("logout", #"{"profile":"shop"}"#)
      #expect(Patience.wait { (try? two.state()) == "signedOut" })
      #expect(BootClock.now - begin < Self.earliestPoll)
    }
  }

  @Test(.enabled(if: DatabaseCluster.pooler != nil, "pgbouncer is not installed (package pgbouncer)"))
  func `through a pool that gives connections away, members look by the period`() async throws {
    try await FleetStage.run(.transaction) { stage in
      let (one, two) = (try stage.member("one"), try stage.member("two"))
      try Self.expectToFollow(one, two)
    }
  }

  @Test func `whoever wants new tokens at once, the provider is asked by one after the other`() async throws {
    try await FleetStage.run { stage in
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
    try await FleetStage.run { stage in
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

  @Test func `a logout without the database says so, and is made once it is back`() async throws {
    try await FleetStage.run { stage in
      let (one, two) = (try stage.member("one"), try stage.member("two"))
      try one.logIn()
      #expect(Patience.wait { (try? two.state()) == "authenticated" })
      try stage.cluster.signal(.kill)
      let message = try one.wire.answer("logout", #"{"profile":"shop"}"#)["error"]?["message"]?.string() ?? ""
      #expect(
        message.contains("the database of the fleet could not be written") && !message.contains("vault"), "\(message)")
      try stage.cluster.start()
      #expect(Patience.wait { (try? two.state()) == "signedOut" })
    }
  }

  @Test func `a member that is killed while it refreshes costs no session`() async throws {
    try await FleetStage.run { stage in
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
