#if !hasFeature(Embedded)
public import BrokerProtocol

/// Thrown by a program where a server has refused its token with HTTP status 401, or with 403 since it wants more scopes.
///
/// ``BrokerClient/withAccessToken(profile:scopes:audience:_:)`` then tries once more with another token.
public struct Unauthorized: Error, Sendable, Equatable {
  /// The HTTP status.
  public var status: Int
  /// The field `WWW-Authenticate` of the response, several joined by commas: it may want more scopes.
  public var challenge: String?

  public init(status: Int = 401, challenge: String? = nil) {
    self.status = status
    self.challenge = challenge
  }
}

extension BrokerClient {
  /// Does something with a token; where the server refuses it, reports that and tries once more with another one.
  ///
  /// - Parameters:
  ///   - profile: nil: the current one (`authbroker profile use`), the only configured one, else `default`.
  ///   - scopes: those that the token must have; nil: those of the session.
  ///   - audience: its audience; nil: that of the session's own token.
  ///   - body: gets the token, and throws ``Unauthorized`` where the server has refused it.
  /// - Returns: what `body` returns.
  /// - Throws: ``ClientError``, and what `body` throws: ``Unauthorized`` where the second token is refused as well, and where
  ///   the broker has no other.
  public func withAccessToken<Value: Sendable>(
    profile: ProfileName? = nil, scopes: [String]? = nil, audience: String? = nil,
    _ body: (AccessToken) async throws -> Value
  ) async throws -> Value {
    let token = try await accessToken(profile: profile, scopes: scopes, audience: audience)
    return try await use(token, scopes: scopes, audience: audience, body)
  }

  /// The same with the token of a server's address.
  ///
  /// - Parameters:
  ///   - url: the server's address, or one below it.
  ///   - scopes: those that the token must have; nil: those of the target.
  ///   - audience: its audience; nil: that of the target.
  ///   - body: gets the token, and throws ``Unauthorized`` where the server has refused it.
  /// - Returns: what `body` returns.
  /// - Throws: as ``withAccessToken(profile:scopes:audience:_:)``.
  public func withAccessToken<Value: Sendable>(
    for url: String, scopes: [String]? = nil, audience: String? = nil, _ body: (AccessToken) async throws -> Value
  ) async throws -> Value {
    let token = try await accessToken(for: url, scopes: scopes, audience: audience)
    return try await use(token, scopes: scopes, audience: audience, body)
  }

  private func use<Value: Sendable>(
    _ token: AccessToken, scopes: [String]?, audience: String?, _ body: (AccessToken) async throws -> Value
  ) async throws -> Value {
    do { return try await body(token) } catch let refusal as Unauthorized {
      let next = try await reportRejected(
        token, status: refusal.status, challenge: refusal.challenge, scopes: scopes, audience: audience)
      // The same token would be refused again.
      guard next.tokenID != token.tokenID else { throw refusal }
      return try await body(next)
    }
  }
}
#endif
