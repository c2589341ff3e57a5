package import BrokerCore
import BrokerProtocol
import HTTP
import ProviderKit
import SecretMemory

/// Sessions and their tokens.
extension OIDCProvider: TargetProvider, RevocationProvider {
  /// Spends the refresh token, once; a client that has logged in as itself requests tokens as itself again.
  ///
  /// An ID token that is not this provider's, or not for this client, is left out; the other tokens are kept, since
  /// they may be the only copy of the next refresh token. The caller compares the user of a valid one with the
  /// session's (OpenID Connect Core, section 12.2).
  package func refresh(_ refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet {
    let key = try key(of: refreshToken)
    if let grant = ClientGrant(refreshToken) { return try await renew(grant, key) }
    var form: TokenCaller.Form = [
      ("grant_type", .text("refresh_token")), ("refresh_token", .secret(refreshToken.value)),
    ]
    if let resource = dialect.resource { form.append(("resource", .text(resource))) }
    let reply = try await ask(.refresh, try await tokenEndpoint(), form, key: key)
    do throws(ProviderFailure) { return checked(try await reply.tokens()) } catch {
      guard case .rotated(var rotated) = error, rotated.rejection.isUnbound, refreshToken.key == nil else {
        throw error
      }
      // The session had no key, and the provider binds nothing: it does not get one.
      rotated.refreshToken = rotated.refreshToken.unbound()
      throw .rotated(rotated)
    }
  }

  /// Whether the provider has a way to request such a token; for which targets it issues one, only it knows.
  package func canGive(_ target: TokenTarget) -> Bool {
    if target.audience != nil, dialect.quirks.target == .none { return false }
    return target.scopes.isEmpty || dialect.quirks.takesScopesAtRefresh
  }

  /// Requests an access token for other scopes, or for another audience, with the session's refresh token.
  ///
  /// - Parameters:
  ///   - target: what the token shall be good for, and whom for, by the provider's way to ask for that.
  ///   - refreshToken: the session's; the provider may give another one with the answer, which holds from then on.
  /// - Returns: the tokens; a refresh token among them replaces the session's.
  /// - Throws: as ``refresh(_:)``, and `.refused(.insufficientScope)` where the session is not good for it; `.unsupported`
  ///   where the provider knows no audiences.
  package func accessToken(
    for target: TokenTarget, refreshToken: BoundToken
  ) async throws(ProviderFailure) -> TokenSet {
    let key = refreshToken.key
    if let grant = ClientGrant(refreshToken) { return try await renew(grant, key, for: target) }
    var form: TokenCaller.Form = [
      ("grant_type", .text("refresh_token")), ("refresh_token", .secret(refreshToken.value)),
    ]
    form += scope(target.scopes)
    if target.audience != nil {
      form += try audience(of: target)
    } else if let resource = dialect.resource {
      form.append(("resource", .text(resource)))
    }
    let reply = try await ask(.narrow, try await tokenEndpoint(), form, key: key)
    return checked(try await reply.tokens(asked: target.scopes))
  }

  /// The form fields that request an audience, by the provider's own parameter.
  func audience(of target: TokenTarget) throws(ProviderFailure) -> TokenCaller.Form {
    guard let audience = target.audience else { return [] }
    switch dialect.quirks.target {
    case .resource: return [("resource", .text(audience))]
    case .audience: return [("audience", .text(audience))]
    case .none: throw .unsupported
    }
  }

  /// The tokens without an ID token that is not good; of a good one, whose they are.
  private func checked(_ tokens: TokenSet) -> TokenSet {
    var tokens = tokens
    tokens.subject = claims(of: tokens, nonce: nil)?.user.id
    if tokens.subject == nil { tokens.idToken = nil }
    return tokens
  }

  /// The token endpoint of a session, or of a login that has begun; without one the failure passes: nothing was sent.
  ///
  /// - Throws: as ``Discovery/sessionEndpoint(_:)``.
  func tokenEndpoint() async throws(ProviderFailure) -> HTTPURL {
    guard let url = try await discovery.sessionEndpoint(.token) else { throw .transient(.invalidResponse) }
    return url
  }

  /// The documented extent of a revocation at the issuer, whatever type it is configured as.
  package var habit: RevocationHabit? { RevocationHabit(ofIssuer: dialect.issuer) }

  /// Ends the session's tokens at the provider, the refresh token first (RFC 7009); with `everywhere` the user's session
  /// there, too.
  ///
  /// - Throws: `.unsupported` where the provider has no endpoint for it; `.misconfigured`; `.refused`; `.transient`;
  ///   `.outcomeUnknown`.
  package func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure) {
    var tokens = tokens
    if ClientGrant(tokens.refreshToken) != nil { tokens.refreshToken = nil }
    var ended = false
    if everywhere { ended = try await endSession(tokens) }
    if let url = try await discovery.sessionEndpoint(.revocation) {
      if let refreshToken = tokens.refreshToken { try await revoke(refreshToken, "refresh_token", url) }
      do throws(ProviderFailure) {
        try await revoke(tokens.accessToken, "access_token", url)
      } catch .unsupported where tokens.refreshToken != nil {
        // Some end no access tokens (RFC 7009, section 2.2.1): they end by themselves, soon.
      }
      if everywhere, !ended { throw .unsupported }
    } else if !everywhere, dialect.quirks.endsSessionWithRefreshToken {
      guard try await endSession(tokens) else { throw .unsupported }
    } else if !ended {
      throw .unsupported
    }
  }

  func revoke(_ token: BoundToken, _ hint: String, _ url: HTTPURL) async throws(ProviderFailure) {
    let form: TokenCaller.Form = [("token", .secret(token.value)), ("token_type_hint", .text(hint))]
    let reply = try await askToEnd(form, url, token.key)
    // A token that is no good any more is as good as ended (RFC 7009, section 2.2); some say so, as Google does.
    if let code = reply.refusal?.code, code == "invalid_token" || code == "invalid_grant" { return }
    try reply.expectSuccess()
  }

  /// Asks for the end of a token with a proof of its key, and without one where that is refused: the specification has none
  /// here (RFC 7009), and some servers want one.
  private func askToEnd(
    _ form: TokenCaller.Form, _ url: HTTPURL, _ key: ProofKey?
  ) async throws(ProviderFailure) -> OAuthReply {
    if key != nil {
      do throws(ProviderFailure) {
        let reply = try await ask(.revocation, url, form, key: key)
        if reply.refusal == nil { return reply }
      } catch {
        guard error == .misconfigured(.possession) else { throw error }
      }
    }
    return try await ask(.revocation, url, form)
  }

  /// Asks the provider to end the user's session there; false where the answer does not confirm it.
  ///
  /// Without a browser most answer with a page for one (OpenID Connect RP-Initiated Logout, section 2), whatever they
  /// have done.
  private func endSession(_ tokens: TokenSet) async throws(ProviderFailure) -> Bool {
    guard let url = try await discovery.sessionEndpoint(.endSession) else { return false }
    let form: TokenCaller.Form
    if dialect.quirks.endsSessionWithRefreshToken, let refreshToken = tokens.refreshToken {
      form = [("refresh_token", .secret(refreshToken.value))]
    } else if let idToken = tokens.idToken {
      form = [("id_token_hint", .secret(idToken))]
    } else {
      return false
    }
    let reply = try await ask(.revocation, url, form, key: tokens.accessToken.key)
    guard dialect.quirks.endsSessionWithRefreshToken else { return false }
    if reply.refusal?.code == "invalid_grant" { return true }
    try reply.expectSuccess()
    return true
  }
}
