import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// How callers come in, are answered and leave, at the actor itself.
@Suite(.standardTimeLimit) struct CallerTests {
  @Test func `a login is answered with its result, and a token with its JSON`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      #expect(stage.answers(to: stage.logIn()) == ["LoginResult"])
      #expect(stage.answers(to: stage.token()) == ["token"])
    }
  }

  @Test func `what a method throws is what its caller is told`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      let name = try #require(ProfileName("other"))
      #expect(stage.answers(to: stage.token(.init(profile: name))) == ["unknownProfile"])
      #expect(stage.answers(to: stage.token()) == ["loginRequired"])
    }
  }

  @Test func `a cancelled login is not answered, and its session is revoked`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      stage.provider.hold()
      let login = stage.logIn()
      #expect(stage.broker.assumeIsolated { $0.cancel(login) })
      stage.provider.release()
      stage.turn()
      #expect(stage.answers(to: login) == [] && stage.state == .signedOut)
      #expect(stage.provider.revocations == 1)
    }
  }

  @Test func `an equal login waits for the same answer, whoever cancels`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      stage.provider.hold()
      let logins = [stage.logIn(), stage.logIn(), stage.logIn()]
      #expect(stage.broker.assumeIsolated { $0.cancel(logins[0]) })
      stage.provider.release()
      stage.turn()
      #expect(logins.map { stage.answers(to: $0) } == [[], ["LoginResult"], ["LoginResult"]])
      #expect(stage.provider.logins.count == 1 && stage.provider.revocations == 0)
    }
  }

  @Test func `an equal login after a logout is one of its own`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      stage.provider.hold()
      let before = stage.logIn()
      _ = stage.ask(.atFirst) { broker, caller throws(BrokerError) in try broker.logout(Logout.Params(), caller) }
      let after = stage.logIn()
      stage.provider.release()
      stage.turn()
      #expect(stage.answers(to: before) == ["cancelled"] && stage.answers(to: after) == ["LoginResult"])
      #expect(stage.provider.logins.count == 2 && stage.state == .authenticated)
    }
  }

  @Test func `a login goes on although its caller's connection was closed`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      stage.provider.hold()
      let login = stage.logIn()
      stage.broker.assumeIsolated { $0.detach(login) }
      stage.provider.release()
      stage.turn()
      #expect(stage.answers(to: login) == [] && stage.state == .authenticated)
    }
  }

  @Test func `an answered caller cannot cancel any more, and is answered once`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      let login = stage.logIn()
      #expect(stage.broker.assumeIsolated { $0.cancel(login) })
      stage.turn()
      #expect(stage.answers(to: login) == ["LoginResult"] && stage.state == .authenticated)
    }
  }

  @Test func `whoever waits too long is told so, and the wait of others goes on`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      let short = stage.token(.init(timeout: .seconds(5), waitForLogin: true))
      let long = stage.token(.init(timeout: .seconds(60), waitForLogin: true))
      stage.clock.advance(by: .seconds(6))
      stage.turn()
      #expect(stage.answers(to: short) == ["deadlineExceeded"] && stage.answers(to: long) == [])
      _ = stage.logIn()
      #expect(stage.answers(to: short) == ["deadlineExceeded"] && stage.answers(to: long) == ["token"])
    }
  }

  @Test func `a vault that was locked meanwhile is all that a caller is told`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      _ = stage.logIn()
      // What was just fetched would be told at once.
      stage.clock.advance(by: .seconds(1))
      stage.provider.hold()
      let user = stage.ask { broker, caller throws(BrokerError) in
        try broker.currentUser(GetCurrentUser.Params(maxAge: .zero), caller)
      }
      let login = stage.logIn()
      let lock = stage.lock()
      #expect(stage.answers(to: user) == [] && stage.answers(to: lock) == [])
      stage.provider.release()
      stage.turn()
      #expect(stage.answers(to: user) == ["vaultLocked"] && stage.answers(to: login) == ["vaultLocked"])
      #expect(stage.answers(to: lock) == ["Empty"])
      #expect(stage.answers(to: stage.token()) == ["vaultLocked"])
    }
  }

  @Test func `a subscription is answered in its own way, and refused as any other request`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      let name = try #require(ProfileName("other"))
      #expect(stage.answers(to: stage.subscribe(to: .default)) == ["subscribed"])
      #expect(stage.answers(to: stage.subscribe(to: name)) == ["unknownProfile"])
    }
  }

  @Test func `what needs no vault is answered while it is locked`() async throws {
    try await OwnThread.run {
      let stage = BrokerStage()
      _ = stage.lock()
      let probe = stage.ask(.never) { broker, caller throws(BrokerError) in
        try broker.checkProviders(CheckProviders.Params(), caller)
      }
      let logout = stage.ask(.atFirst) { broker, caller throws(BrokerError) in
        try broker.logout(Logout.Params(), caller)
      }
      #expect(stage.answers(to: probe) == ["Result"] && stage.answers(to: logout) == ["vaultLocked"])
    }
  }
}
