package import BrokerCore
import BrokerProtocol
import HTTP
import SecretMemory

/// Sessions of the client itself (RFC 6749, section 4.4).
extension OIDCProvider: ClientSessionProvider {
  /// Whether the tokens are such a session's.
  package func areClientsOwn(_ tokens: TokenSet) -> Bool { ClientGrant(tokens.refreshToken) != nil }

  /// Requests tokens as the client itself.
  ///
  /// A refresh token in the answer, which should have none (RFC 6749, section 4.4.3), is left out.
  func tokens(
    for grant: ClientGrant, _ target: TokenTarget = TokenTarget(), at url: HTTPURL, _ key: ProofKey?
  ) async throws(ProviderFailure) -> TokenSet {
    let scopes = target.scopes.isEmpty ? grant.scopes : target.scopes
    var form: TokenCaller.Form = [("grant_type", .text("client_credentials"))]
    form += target.audience == nil ? wishes(scopes) : scope(scopes) + (try audience(of: target))
    let reply = try await ask(.clientCredentials, url, form, key: key)
    var tokens = try await reply.tokens(asked: scopes)
    tokens.refreshToken = nil
    return tokens
  }

  /// Requests tokens again as the client itself.
  ///
  /// Nothing is spent by that, so a lost reply passes; and no refusal ends the session, since it begins again as soon
  /// as the provider accepts the client's password again.
  func renew(
    _ grant: ClientGrant, _ key: ProofKey?, for target: TokenTarget = TokenTarget()
  ) async throws(ProviderFailure) -> TokenSet {
    let url = try await tokenEndpoint()
    let isTarget = !target.scopes.isEmpty || target.audience != nil
    do throws(ProviderFailure) {
      return try await tokens(for: grant, target, at: url, key)
    } catch {
      if case .outcomeUnknown(let kind, let retryAfter) = error { throw .transient(kind, retryAfter: retryAfter) }
      throw isTarget && error == .misconfigured(.scopes) ? .refused(.insufficientScope) : error
    }
  }
}
