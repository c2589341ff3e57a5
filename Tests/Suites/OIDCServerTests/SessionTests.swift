import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// The life of a session at a real OpenID Connect server.
@Suite(.standardTimeLimit) struct SessionTests {
  @Test(arguments: [[], ["--tls"]])
  func `password, user, refresh with rotation, revocation`(_ options: [String]) async throws {
    try await Party.run(options) { party in
      let provider = try party.provider()
      let before = Timestamp(milliseconds: WallClock.milliseconds)
      let session = try #require(try await provider.login(.alice()).session)
      let end = try #require(session.tokens.accessTokenExpiresAt)
      let after = Timestamp(milliseconds: WallClock.milliseconds)
      #expect(end >= before + .seconds(899) && end <= after + .seconds(901))
      #expect(session.tokens.scopes.sorted() == ["email", "openid", "profile", "read"])
      #expect(session.user?.email == "alice@example.com" && session.user?.name == "Alice Example")
      let user = try await provider.currentUser(accessToken: session.tokens.accessToken)
      #expect(user.id == session.user?.id && user.email == "alice@example.com" && user.emailVerified == true)
      let refreshToken = try #require(session.tokens.refreshToken)
      let refreshed = try await provider.refresh(refreshToken)
      let next = try #require(refreshed.refreshToken)
      #expect(next != refreshToken && refreshed.accessToken != session.tokens.accessToken)
      try await provider.revoke(refreshed, everywhere: false)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(next) }
          == .sessionEnded(.refreshRejected))
      #expect(
        await failure { () throws(ProviderFailure) in
          try await provider.currentUser(accessToken: refreshed.accessToken)
        } == .tokenRefused)
      #expect(try await party.ledger("token", "refreshToken") == ["", "R1", "R2"])
      #expect(try await party.ledger("revoke", "token") == ["R2", "A2"])
      #expect(try await party.ledger("discovery").count == 1, "the metadata are read once")
      for entry in try await party.ledger() {
        let isUserinfo = try entry.required("endpoint").string() == "userinfo"
        #expect((entry["authorization"] != nil) == isUserinfo)
        #expect(entry["queryNames"] == nil, "nothing stands in an address")
      }
    }
  }

  @Test func `a refresh token that is sent twice ends the session, and its successor's`() async throws {
    try await Party.run { party in
      let provider = try party.provider()
      let first = try #require(try await provider.login(.alice()).session?.tokens.refreshToken)
      let second = try #require(try await provider.refresh(first).refreshToken)
      let third = try #require(try await provider.refresh(second).refreshToken)
      for token in [first, third] {
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
            == .sessionEnded(.refreshRejected))
      }
      #expect(try await party.ledger("token", "refreshToken") == ["", "R1", "R2", "R1", "R3"])
    }
  }

  @Test func `a server that does not rotate, and one that lets a lost reply be asked for again`() async throws {
    try await Party.run(["--set", "rotation=false"]) { party in
      let provider = try party.provider()
      let token = try #require(try await provider.login(.alice()).session?.tokens.refreshToken)
      for _ in 0..<2 {
        let tokens = try await provider.refresh(token)
        #expect(tokens.refreshToken == nil || tokens.refreshToken == token)
      }
      try await party.set(#"{"rotation":true,"rotationGraceSeconds":60}"#)
      try await party.control("/fault", #"{"endpoint":"token","kind":"drop-after-commit"}"#)
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
          == .outcomeUnknown(.networkUnavailable))
      #expect(try await provider.refresh(token).refreshToken != nil, "the grace is for this")
    }
  }

  @Test func `what is refused, and by whom`() async throws {
    try await Party.run { party in
      let provider = try party.provider()
      let wrong = try Credentials.alice("wrong")
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(wrong) } == .refused(.invalidCredentials)
      )
      let right = try Credentials.alice()
      let other = try party.provider("only-code")
      #expect(
        await failure { () throws(ProviderFailure) in try await other.login(right) }?.kind == .providerRejected)
      let unknown = try party.provider("nobody")
      #expect(
        await failure { () throws(ProviderFailure) in try await unknown.login(right) }?.kind == .providerRejected)
      let token = try #require(try await provider.login(right).session?.tokens.refreshToken)
      let bad = try BoundToken(Secret(utf8: "never-given-out"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.currentUser(accessToken: bad) }
          == .tokenRefused)
      let page = #""status":200,"body":"<html>Log in to the network","fields":{"Content-Type":"text/html"}"#
      for (answer, kind) in [
        (#""status":503,"body":{}"#, ErrorKind.providerUnavailable),
        (page, .invalidResponse),
        (#""status":302,"body":"","fields":{"Location":"http://127.0.0.1:1/"}"#, .invalidResponse),
      ] {
        try await party.control("/fault", #"{"endpoint":"token","kind":"answer",\#(answer)}"#)
        let refusal = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
        #expect(refusal == .transient(kind), "\(answer)")
      }
      try await party.control("/revoke")
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
          == .sessionEnded(.refreshRejected))
    }
  }

  @Test func `a client makes itself known in each way, whatever its password is made of`() async throws {
    try await Party.run { party in
      let secret = try #require(party.places["clientSecret"])
      for (way, name) in [(OIDCDialect.ClientAuthentication.basic, "basic"), (.post, "post")] {
        let provider = try party.provider("confidential", secret: secret, way)
        let token = try #require(try await provider.login(.alice()).session?.tokens.refreshToken)
        _ = try await provider.refresh(token)
        let machine = try party.provider("machine", secret: secret, way, scopes: ["read"])
        let tokens = try #require(
          try await machine.login(Credentials(method: .clientCredentials)).session?.tokens)
        #expect(machine.areClientsOwn(tokens), "what is kept in the refresh token's place is none")
        let again = try await machine.refresh(try #require(tokens.refreshToken))
        #expect(again.accessToken != tokens.accessToken && again.refreshToken == nil && again.scopes == ["read"])
        #expect(try await party.ledger("token", "clientAuth").suffix(4) == [name, name, name, name])
        let mistaken = try party.provider("confidential", secret: "wrong", way)
        let right = try Credentials.alice()
        let refusal = await failure { () throws(ProviderFailure) in try await mistaken.login(right) }
        #expect(refusal?.kind == .providerRejected)
        #expect(
          await failure { () throws(ProviderFailure) in try await mistaken.refresh(token) }
            == .misconfigured(.client), "a wrong password of the client ends nobody's session")
      }
    }
  }

  @Test func `the metadata are another issuer's, or say little`() async throws {
    try await Party.run { party in
      let right = try Credentials.alice()
      try await party.set(#"{"announcedIssuer":"https://other.example.com"}"#)
      let provider = try party.provider()
      #expect(await failure { () throws(ProviderFailure) in try await provider.login(right) } != nil)
      #expect(try await party.ledger("token").isEmpty, "no password was sent to whoever that is")
      try await party.set(#"{"announcedIssuer":null,"announceAll":false}"#)
      let silent = try party.provider()
      let device = Credentials(method: .deviceCode)
      #expect(await failure { () throws(ProviderFailure) in try await silent.login(device) } == .unsupported)
      let told = try party.provider { dialect in
        dialect.endpoints[.deviceAuthorization] = dialect.issuer + "/device-authorization/"
      }
      #expect(try await told.login(device).action?.kind == .deviceCode)
    }
  }

  @Test func `a session of another program is taken over`() async throws {
    try await Party.run { party in
      let provider = try party.provider()
      let theirs = try #require(try await provider.login(.alice()).session?.tokens.refreshToken)
      let taken = try await provider.login(Credentials(method: .refreshToken, refreshToken: theirs.value))
      let ours = try #require(taken.session?.tokens.refreshToken)
      #expect(ours != theirs)
      let again = Credentials(method: .refreshToken, refreshToken: try Secret(utf8: "never-given-out"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(again) }?.kind == .invalidCredentials)
    }
  }
}
