package import BrokerCore
import BrokerProtocol
import HTTP
import ProviderKit
import SecretMemory

/// The login methods.
extension OIDCProvider {
  /// Begins a login by one of the configured methods.
  ///
  /// - Throws: `.unsupported` for a method that is not configured, or has no endpoint; `.refused` with
  ///   `missingCredential` and the fields, or with what the provider refuses: `invalidCredentials`, `consentDenied`,
  ///   `providerRejected` and others; `.transient` and `.outcomeUnknown` for what went wrong on the way.
  package func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    guard loginMethods.contains(credentials.method) else { throw .unsupported }
    switch credentials.method {
    case .password: return try await logIn(password: credentials)
    case .refreshToken: return try await takeOver(credentials)
    case .clientCredentials: return try await logInClient(credentials)
    case .deviceCode: return .userActionRequired(try await beginDevice(scopes(credentials)))
    case .browser:
      return .userActionRequired(
        try await beginBrowser(
          scopes(credentials), of: credentials.email, wantsProof: credentials.wantsFreshProof,
          replacesPending: credentials.replacesPending, stepUp: credentials.stepUp))
    }
  }

  private func logIn(password credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    let name = credentials.email ?? credentials.phoneNumber ?? ""
    let password = credentials.password.flatMap { $0.byteCount > 0 ? $0 : nil }
    guard let password, !name.isEmpty else {
      throw .refused(
        .missingCredential, fields: (name.isEmpty ? ["email"] : []) + (password == nil ? ["password"] : []))
    }
    let scopes = scopes(credentials)
    let form: TokenCaller.Form =
      [("grant_type", .text("password")), ("username", .text(name)), ("password", .secret(password))] + wishes(scopes)
    let key = try newKey()
    let reply = try await ask(.password, try await endpoint(.token), form, key: key)
    if dialect.quirks.asksForSecondFactor, reply.refusal?.code == "mfa_required",
      let token = try await reply.secretMember("mfa_token")
    {
      return .otpRequired(try await challenge(token, scopes, key))
    }
    return .authenticated(try await session(reply, scopes))
  }

  /// Spends a refresh token that another program had: the new one is this broker's alone.
  private func takeOver(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    guard let token = credentials.refreshToken, token.byteCount > 0 else {
      throw .refused(.missingCredential, fields: ["refreshToken"])
    }
    var form: TokenCaller.Form = [("grant_type", .text("refresh_token")), ("refresh_token", .secret(token))]
    form += scope(credentials.scopes)
    if let resource = dialect.resource { form.append(("resource", .text(resource))) }
    let key = try newKey()
    let reply = try await ask(.takeOver, try await endpoint(.token), form, key: key)
    var tokens = try await loginTokens(reply, credentials.scopes)
    // A provider that does not rotate leaves the token as it is (RFC 6749, section 6).
    if tokens.refreshToken == nil { tokens.refreshToken = BoundToken(token) }
    tokens = tokens.bound(to: key)
    let named = claims(of: tokens, nonce: nil)?.user
    // The given token may be spent: what came for it is kept, whatever its ID token says.
    if named == nil { tokens.idToken = nil }
    let user = if let named { named as User? } else { try? await currentUser(accessToken: tokens.accessToken) }
    return .authenticated(ProviderSession(tokens: tokens, user: user))
  }

  private func logInClient(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    // There is no user, so nothing that is about one can be asked for.
    let grant = ClientGrant(scopes: scopes(credentials).filter { $0 != "openid" && $0 != "offline_access" })
    let key = try newKey()
    var tokens = try await self.tokens(for: grant, at: try await endpoint(.token), key)
    guard let kept = try? grant.kept() else { throw .transient(.overloaded) }
    tokens.refreshToken = kept
    return .authenticated(ProviderSession(tokens: tokens.bound(to: key), user: nil, rotatesRefreshToken: false))
  }

  /// The scopes that a client asks for, else the configured ones.
  private func scopes(_ credentials: Credentials) -> [String] {
    credentials.scopes.isEmpty ? dialect.scopes : credentials.scopes
  }

  /// The scopes as a field.
  func scope(_ scopes: [String]) -> TokenCaller.Form {
    scopes.isEmpty ? [] : [("scope", .text(scopes.joined(separator: " ")))]
  }

  /// Scopes and audience as fields.
  func wishes(_ scopes: [String]) -> TokenCaller.Form {
    var form = scope(scopes)
    if let audience = dialect.audience { form.append(("audience", .text(audience))) }
    if let resource = dialect.resource { form.append(("resource", .text(resource))) }
    return form
  }

  /// The session of a reply, whose ID token must be valid if there is one.
  ///
  /// The user comes from the ID token, else from the userinfo endpoint, if it answers at once.
  func session(
    _ reply: OAuthReply, _ scopes: [String], nonce: String? = nil
  ) async throws(ProviderFailure) -> ProviderSession {
    let tokens = try await loginTokens(reply, scopes)
    if let token = tokens.idToken {
      switch examine(token, tokens, nonce: nonce) {
      case .success(let claims): return ProviderSession(tokens: tokens, user: claims.user)
      case .failure(let flaw):
        // No session will use them.
        try? await revoke(tokens, everywhere: false)
        throw .rejected(ProviderRejection(.invalidResponse, said: .idToken(flaw)))
      }
    }
    let user = try? await currentUser(accessToken: tokens.accessToken)
    return ProviderSession(tokens: tokens, user: user)
  }

  /// The tokens of a login; with a refresh token alone the others are requested once.
  ///
  /// - Throws: as ``OAuthReply/tokens(asked:)``, but for `.rotated`.
  private func loginTokens(_ reply: OAuthReply, _ scopes: [String]) async throws(ProviderFailure) -> TokenSet {
    let rotated: RotatedToken
    do throws(ProviderFailure) { return try await reply.tokens(asked: scopes) } catch {
      guard case .rotated(let found) = error else { throw error }
      rotated = found
    }
    do throws(ProviderFailure) {
      // Another request brings another token of the same type.
      if rotated.rejection.said == nil {
        var tokens = try await refreshUnrecorded(rotated.refreshToken)
        tokens.refreshToken = tokens.refreshToken ?? rotated.refreshToken
        return tokens
      }
    } catch .transient(let kind, _, _) {
      throw .outcomeUnknown(kind)
    } catch .outcomeUnknown(let kind, _) {
      throw .outcomeUnknown(kind)
    } catch {}
    if let url = try? await discovery.sessionEndpoint(.revocation) {
      try? await revoke(rotated.refreshToken, "refresh_token", url)
    }
    throw .rejected(rotated.rejection)
  }

  /// The claims of the ID token; nil where there is none, or none that is valid.
  func claims(of tokens: TokenSet, nonce: String?) -> IDToken.Claims? {
    tokens.idToken.flatMap { try? examine($0, tokens, nonce: nonce).get() }
  }

  private func examine(
    _ token: Secret, _ tokens: TokenSet, nonce: String?
  ) -> Result<IDToken.Claims, IDTokenFlaw> {
    // Its times are by the provider's clock.
    let now = clock() + (tokens.clockSkew ?? .zero)
    return IDToken(dialect: dialect, clientID: clientID).examined(token, nonce: nonce, at: now)
  }
}
