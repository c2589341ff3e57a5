import BrokerCore
import BrokerProtocol
import SecretMemory
import Testing

@testable import OIDCProvider

/// A provider that is known by name, put at the address of a test, with replies in the shapes that its public documentation
/// shows; every token in them is made up.
struct RecordedProvider {
  /// What an endpoint answers.
  typealias Answer = @Sendable (FakeProvider.Request) -> FakeProvider.Reply

  let provider: OIDCProvider
  let server: FakeProvider

  /// Runs a test with the provider.
  ///
  /// The issuer stays the provider's own, as it stands in ID tokens; only the addresses are the test's.
  static func run(
    _ dialect: OIDCDialect, without missing: Set<OIDCEndpoint> = [], _ answer: @escaping Answer,
    _ body: (RecordedProvider) async throws -> Void
  ) async throws {
    let reply: @Sendable (FakeProvider.Request, String) -> FakeProvider.Reply = { request, _ in answer(request) }
    try await FakeProvider.run(reply) { server in
      var dialect = dialect
      dialect.usesDiscovery = false
      dialect.methods = LoginMethod.allCases
      dialect.endpoints = [:]
      for endpoint in OIDCEndpoint.allCases where !missing.contains(endpoint) {
        dialect.endpoints[endpoint] = server.issuer + "/" + endpoint.rawValue
      }
      try await withProvider(dialect) { try await body(RecordedProvider(provider: $0, server: server)) }
    }
  }

  /// What a refresh brings.
  static func refresh(_ dialect: OIDCDialect, _ reply: String) async throws -> TokenSet {
    var found: TokenSet?
    try await run(dialect) { _ in
      FakeProvider.Reply(200, reply)
    } _: {
      found = try await $0.provider.refresh(BoundToken(secret("rt")))
    }
    return try #require(found)
  }

  /// What a refresh is refused with.
  static func refusal(_ dialect: OIDCDialect, _ status: Int, _ reply: String) async throws -> ProviderFailure? {
    var found: ProviderFailure?
    try await run(dialect) { _ in
      FakeProvider.Reply(status, reply)
    } _: { recorded in
      let (provider, token) = (recorded.provider, try BoundToken(secret("rt")))
      found = await failure { () throws(ProviderFailure) in try await provider.refresh(token) }
    }
    return found
  }

  /// What a login with a password is refused with.
  static func loginRefusal(_ dialect: OIDCDialect, _ status: Int, _ reply: String) async throws -> ProviderFailure? {
    var found: ProviderFailure?
    try await run(dialect) { _ in
      FakeProvider.Reply(status, reply)
    } _: { recorded in
      let (provider, ann) = (recorded.provider, try Credentials.ann())
      found = await failure { () throws(ProviderFailure) in try await provider.login(ann) }
    }
    return found
  }

  /// Whose an access token is, or why that is not told.
  static func user(
    _ dialect: OIDCDialect, _ status: Int, _ reply: String
  ) async throws -> Result<User, ProviderFailure> {
    var found: Result<User, ProviderFailure>?
    try await run(dialect) { _ in
      FakeProvider.Reply(status, reply)
    } _: { recorded in
      let (provider, token) = (recorded.provider, try BoundToken(secret("at")))
      do throws(ProviderFailure) {
        found = .success(try await provider.currentUser(accessToken: token).withoutClaims)
      } catch {
        found = .failure(error)
      }
    }
    return try #require(found)
  }

  /// How the end of a session fails; nil where it succeeds.
  static func revocation(
    _ dialect: OIDCDialect, without missing: Set<OIDCEndpoint> = [], everywhere: Bool = false,
    _ answer: @escaping Answer
  ) async throws -> (failure: ProviderFailure?, requests: [FakeProvider.Request]) {
    var found: (ProviderFailure?, [FakeProvider.Request])?
    try await run(dialect, without: missing, answer) { recorded in
      let tokens = TokenSet(accessToken: try secret("at"), accessTokenExpiresAt: nil, refreshToken: try secret("rt"))
      let provider = recorded.provider
      let failure = await failure { () throws(ProviderFailure) in
        try await provider.revoke(tokens, everywhere: everywhere)
      }
      found = (failure, recorded.server.requests)
    }
    return try #require(found)
  }

  /// What a login at another device comes to, by the replies to its questions.
  static func deviceLogin(
    _ dialect: OIDCDialect, _ begin: String, _ answer: @escaping Answer
  ) async throws -> (action: ProviderUserAction, progress: Result<UserActionProgress, ProviderFailure>) {
    var found: (ProviderUserAction, Result<UserActionProgress, ProviderFailure>)?
    let reply: Answer = { request in
      request.path == "/deviceAuthorization" ? FakeProvider.Reply(200, begin) : answer(request)
    }
    try await run(dialect, reply) { recorded in
      let provider = recorded.provider
      let action = try #require(try await provider.login(Credentials(method: .deviceCode)).action)
      do throws(ProviderFailure) {
        found = (action, .success(try await provider.pollUserAction(flow: action.flow)))
      } catch {
        found = (action, .failure(error))
      }
    }
    return try #require(found)
  }

  /// Seconds since 1970.
  static func seconds(_ end: Timestamp?) -> Int? {
    end.map { Int((($0 - Timestamp(milliseconds: 0)).inSeconds).rounded()) }
  }
}

extension UserActionProgress {
  /// The session; nil where the user is not done.
  var session: ProviderSession? {
    if case .authenticated(let session) = self { return session }
    return nil
  }

  /// Whether the provider wants to be asked more slowly; nil where the user is done.
  var slowsDown: Bool? {
    if case .pending(let slowsDown) = self { return slowsDown }
    return nil
  }
}

extension User {
  /// The user without what its provider says besides: the members of their own are looked at by themselves.
  var withoutClaims: User {
    var user = self
    user.claims = nil
    return user
  }
}
