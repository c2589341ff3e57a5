import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

/// What every provider does in the same way, whatever it speaks: the core relies on nothing else.
@Suite(.standardTimeLimit) struct ConformanceTests {
  @Test(arguments: Candidate.Kind.allCases)
  func `a login gives a session that says whose it is, and how long it lives`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      #expect(candidate.provider.binding.type == kind.rawValue)
      let session = try await candidate.session()
      let now = Timestamp(milliseconds: WallClock.milliseconds)
      #expect(try #require(session.tokens.accessTokenExpiresAt) > now)
      #expect(session.tokens.refreshToken != nil)
      let user = try #require(session.user)
      #expect(!user.id.isEmpty)
      let userInfo = try candidate.provider.require(\.userInfo)
      let again = try await userInfo.currentUser(accessToken: session.tokens.accessToken)
      #expect(again.id == user.id && again.email != nil)
      let other = try await candidate.session()
      #expect(other.tokens.refreshToken != session.tokens.refreshToken && other.user?.id == user.id)
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `a wrong password is refused, and one that is missing is asked for`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      let provider = candidate.provider
      var wrong = candidate.credentials
      wrong.password = try Secret(utf8: "a-wrong-password")
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(wrong) }?.kind == .invalidCredentials)
      var nobody = candidate.credentials
      nobody.email = "nobody@example.com"
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.login(nobody) }?.kind == .invalidCredentials,
        "who has an account is told nobody")
      let nothing = Credentials()
      let missing = await failure { () throws(ProviderFailure) in try await provider.login(nothing) }
      #expect(missing == .refused(.missingCredential, fields: ["email", "password"]))
      #expect(try await candidate.session().tokens.refreshToken != nil, "the account is none the worse for it")
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `a refresh gives a fresh token for the same user`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      let provider = candidate.provider
      let session = try await candidate.session()
      let first = try #require(session.tokens.refreshToken)
      let refreshed = try await provider.refresh(first)
      #expect(refreshed.accessToken != session.tokens.accessToken && refreshed.accessTokenExpiresAt != nil)
      let userInfo = try provider.require(\.userInfo)
      #expect(try await userInfo.currentUser(accessToken: refreshed.accessToken).id == session.user?.id)
      let next = refreshed.refreshToken ?? first
      #expect((next != first) == candidate.rotates)
      let again = try await provider.refresh(next)
      #expect(again.accessToken != refreshed.accessToken)
    }
  }

  @Test(arguments: Candidate.Kind.rotating)
  func `a refresh token that comes a second time ends its session`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      #expect(candidate.rotates)
      let provider = candidate.provider
      let first = try #require(try await candidate.session().tokens.refreshToken)
      let next = try #require(try await provider.refresh(first).refreshToken)
      for spent in [first, next] {
        let refusal = await failure { () throws(ProviderFailure) in try await provider.refresh(spent) }
        guard case .sessionEnded(.refreshRejected, _, _) = refusal else {
          Issue.record("a token that was spent ends the family: \(String(describing: refusal))")
          continue
        }
      }
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `a session that was ended elsewhere is over, and so is a token that was never given`(
    _ kind: Candidate.Kind
  ) async throws {
    try await Candidate.run(kind) { candidate in
      let provider = candidate.provider
      let token = try #require(try await candidate.session().tokens.refreshToken)
      try await candidate.endSessions()
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
          == .sessionEnded(.refreshRejected))
      let strange = try BoundToken(Secret(utf8: "never-given-out"))
      #expect(
        await failure { () throws(ProviderFailure) in try await provider.refresh(strange) }
          == .sessionEnded(.refreshRejected))
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.require(\.userInfo).currentUser(accessToken: strange)
      }
      #expect(refusal == .tokenRefused)
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `a revoked session is over at the provider, or the provider says that it cannot`(
    _ kind: Candidate.Kind
  ) async throws {
    try await Candidate.run(kind) { candidate in
      let provider = candidate.provider
      let (session, other) = (try await candidate.session(), try await candidate.session())
      let tokens = session.tokens
      let refusal = await failure { () throws(ProviderFailure) in
        try await provider.require(\.revocation).revoke(tokens, everywhere: false)
      }
      #expect(refusal == (candidate.revokes ? nil : .unsupported))
      let token = try #require(tokens.refreshToken)
      let refresh = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
      #expect(refresh == (candidate.revokes ? .sessionEnded(.refreshRejected) : nil))
      #expect(try await provider.refresh(try #require(other.tokens.refreshToken)).accessTokenExpiresAt != nil)
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `what is not offered is unsupported`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      let provider = candidate.provider
      for method in LoginMethod.allCases where !provider.loginMethods.contains(method) && method != .password {
        let credentials = Credentials(method: method)
        // What has one way in takes no notice of the name of another: nobody asks it for one.
        guard provider.loginMethods.count > 1 else { continue }
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.login(credentials) } == .unsupported,
          "\(method)")
      }
      let flow = try Secret(utf8: "never-given-out")
      let poll = await failure { () throws(ProviderFailure) in
        try await provider.require(\.deviceLogin).pollUserAction(flow: flow)
      }
      #expect(poll == (provider.loginMethods.contains(.deviceCode) ? .refused(.flowNotFound) : .unsupported))
      let redirect = await failure { () throws(ProviderFailure) in
        try await provider.require(\.browserLogin).awaitRedirect(flow: flow)
      }
      #expect(redirect == (provider.loginMethods.contains(.browser) ? .refused(.flowNotFound) : .unsupported))
      let token = try await candidate.session().tokens.accessToken
      // Waiting for users is what the ways to log in say, which were looked at above.
      for ability in ProviderAbility.allCases where ability != .awaitLogin {
        let refusal = try await attempt(ability, provider, token)
        #expect((refusal != .unsupported) == provider.abilities.contains(ability), "\(ability)")
      }
    }
  }

  /// Tries an ability with what cannot succeed, where there is such a thing.
  private func attempt(
    _ ability: ProviderAbility, _ provider: any AuthProvider, _ token: BoundToken
  ) async throws -> ProviderFailure? {
    let word = try Secret(utf8: "never-given-out")
    let name = try RawJSON(from: try JSONDocument(parsing: Array(#""Ann B.""#.utf8)).root)
    return await failure { () throws(ProviderFailure) in
      switch ability {
      case .register:
        _ = try await provider.require(\.registration)
          .register(Registration(email: "bob@example.com", password: word))
      case .verifyEmail: try await provider.require(\.emailVerification).verifyEmail(token: word)
      case .forgotPassword:
        try await provider.require(\.forgottenPassword).forgotPassword(email: "nobody@example.com")
      case .resetPassword: try await provider.require(\.passwordReset).resetPassword(token: word, newPassword: word)
      case .getCurrentUser: _ = try await provider.require(\.userInfo).currentUser(accessToken: token)
      case .updateProfile:
        let changes = ProfileChanges([.init(name: "name", value: name)])
        _ = try await provider.require(\.profileUpdate).updateProfile(changes, accessToken: token)
      case .changePassword:
        _ = try await provider.require(\.passwordChange).changePassword(from: word, to: word, accessToken: token)
      case .deleteAccount:
        try await provider.require(\.accountDeletion).deleteAccount(password: word, accessToken: token)
      case .resendOtp: _ = try await provider.require(\.codeResending).resendOTP(flow: word)
      case .awaitLogin: break
      case .createProof:
        let request = ProvenRequest(method: "GET", address: "https://example.com/", origin: "https://example.com:443")
        _ = try provider.require(\.proofs).proof(of: token, for: request)
      case .verifyBackupCode: _ = try await provider.require(\.backupCodes).verifyBackupCode(flow: word, code: word)
      case .generateBackupCodes:
        _ = try await provider.require(\.backupCodeIssuing).generateBackupCodes(password: word, accessToken: token)
      }
    }
  }

  @Test(arguments: Candidate.Kind.remote)
  func `a server that is not well costs nobody a session`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      let spoil = try #require(candidate.spoilRefresh)
      let provider = candidate.provider
      let token = try #require(try await candidate.session().tokens.refreshToken)
      for (spoiling, kind) in [
        (Candidate.Spoiling.unavailable, ErrorKind.providerUnavailable), (.captivePortal, .invalidResponse),
      ] {
        try await spoil(spoiling)
        #expect(
          await failure { () throws(ProviderFailure) in try await provider.refresh(token) } == .transient(kind),
          "\(spoiling)")
      }
      let next = try await provider.refresh(token).refreshToken ?? token
      try await spoil(.loseReply)
      guard case .outcomeUnknown = await failure({ () throws(ProviderFailure) in try await provider.refresh(next) })
      else {
        Issue.record("nobody knows what became of a request whose reply is lost")
        return
      }
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `where nobody listens nothing has happened`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      let probe = await candidate.provider.probe()
      guard let unreachable = candidate.unreachable else {
        #expect(probe == .nothingToReach)
        return
      }
      guard case .answered = probe.outcome else {
        Issue.record("the server answers: \(probe)")
        return
      }
      let (credentials, token) = (candidate.credentials, try BoundToken(Secret(utf8: "never-given-out")))
      #expect(
        await failure { () throws(ProviderFailure) in try await unreachable.login(credentials) }
          == .transient(.networkUnavailable))
      #expect(
        await failure { () throws(ProviderFailure) in try await unreachable.refresh(token) }
          == .transient(.networkUnavailable))
      guard case .failed(.transient(.networkUnavailable, _, _), let advice) = await unreachable.probe().outcome else {
        Issue.record("nobody is there")
        return
      }
      #expect(advice.contains("Nothing answers"))
    }
  }
}

/// A login that came to something else than a session.
struct NoSession: Error {}

extension Candidate {
  /// A new session of the account.
  func session() async throws -> ProviderSession {
    guard case .authenticated(let session) = try await provider.login(credentials) else { throw NoSession() }
    return session
  }
}

/// The failure of a call; nil where it succeeded.
func failure<R>(_ call: () async throws(ProviderFailure) -> R) async -> ProviderFailure? {
  do {
    _ = try await call()
    return nil
  } catch {
    return error
  }
}
