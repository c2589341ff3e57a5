#if !hasFeature(Embedded)
public import BrokerProtocol

/// Tokens for the address of a server, whose target the configuration has.
extension BrokerClient {
  /// A valid access token for a server, refreshed first where necessary.
  ///
  /// - Parameters:
  ///   - url: the server's address, or one below it.
  ///   - minValidity: its least remaining lifetime; nil: the profile's own rule.
  ///   - scopes: those that it must have; nil: those of the target.
  ///   - audience: its audience, by the provider's own name; nil: that of the target.
  ///   - forceRefresh: whether to refresh although the present token is still valid.
  /// - Returns: the token, with its target.
  /// - Throws: `broker` with `unknownTarget` where the configuration has none; as
  ///   ``accessToken(profile:minValidity:scopes:audience:forceRefresh:)``.
  public func accessToken(
    for url: String, minValidity: Duration? = nil, scopes: [String]? = nil, audience: String? = nil,
    forceRefresh: Bool = false
  ) async throws -> AccessToken {
    var params = GetAccessToken.Params(
      url: url, minValidity: minValidity, scopes: scopes, audience: audience, forceRefresh: forceRefresh)
    do {
      let token = try await call(GetAccessToken.self, params)
      if token.target?.covers(url) == true { return token }
    } catch ClientError.broker(let error) where error.mayBeAnotherProfiles {}
    // A broker that knows no addresses has given, or refused, some other token.
    guard let target = try await call(ListTargets.self, .init(url: url)).targets.first else {
      throw ClientError.broker(BrokerError(.unknownTarget))
    }
    params.url = nil
    params.profile = target.profile
    params.scopes = scopes ?? target.scopes
    params.audience = audience ?? target.audience
    var token = try await call(GetAccessToken.self, params)
    token.target = GrantedTarget(prefix: target.url, username: target.username, scheme: target.scheme)
    return token
  }
}
#endif
