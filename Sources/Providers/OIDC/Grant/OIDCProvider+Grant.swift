package import BrokerCore
import BrokerProtocol
import JOSE
import SecretMemory

/// Tokens without a login.
extension OIDCProvider: GrantProvider {
  /// The name of the grant; that of a client's own where someone logs in.
  package var grantName: String { (dialect.grant ?? .clientCredentials).name.rawValue }

  /// The profiles whose tokens a request shows, the subject first.
  package var subjects: [SubjectReference] {
    (dialect.grant?.sources ?? []).compactMap { source in
      guard case .profile(let name, let isIDToken) = source else { return nil }
      return SubjectReference(name, isIDToken: isIDToken, isAssertion: dialect.grant?.name == .jwtBearer)
    }
  }

  /// Requests tokens by the configured grant.
  ///
  /// Nothing is spent by that, so a lost reply passes. What the request shows is read again each time. What is issued in
  /// exchange for a token ends no later than that; an assertion is as a code, and is forgotten.
  package func tokens(
    for target: TokenTarget, showing subjects: [SubjectToken], boundTo given: ProofKey? = nil
  ) async throws(ProviderFailure) -> TokenSet {
    guard let grant = dialect.grant else { throw .unsupported }
    let key = if let given { given as ProofKey? } else { try newKey() }
    let own = ClientGrant(scopes: dialect.scopes.filter { $0 != "openid" && $0 != "offline_access" })
    var tokens: TokenSet
    if grant == .clientCredentials {
      tokens = try await renew(own, key, for: target)
    } else {
      tokens = try await issued(grant, target, try await shown(grant.sources, subjects), key)
    }
    // Each request is by the same grant, so there is nothing to refresh with.
    guard let kept = try? own.kept() else { throw .transient(.overloaded) }
    tokens.refreshToken = kept
    tokens.refreshTokenExpiresAt = nil
    return tokens.bound(to: key)
  }

  /// The tokens that a request shows, in the order of their sources.
  private func shown(
    _ sources: [TokenSource], _ subjects: [SubjectToken]
  ) async throws(ProviderFailure) -> [SubjectToken] {
    var (shown, given) = ([SubjectToken](), subjects[...])
    for source in sources {
      switch source {
      case .profile:
        guard let subject = given.popFirst() else { throw .transient(.internal) }
        shown.append(subject)
      case .assertion(let source):
        let assertion = try await assertions.assertion(source)
        shown.append(SubjectToken(assertion, end: UnverifiedToken.span(of: assertion)?.end))
      }
    }
    return shown
  }

  private func issued(
    _ grant: MachineGrant, _ target: TokenTarget, _ shown: [SubjectToken], _ key: ProofKey?
  ) async throws(ProviderFailure) -> TokenSet {
    let scopes = target.scopes.isEmpty ? dialect.scopes : target.scopes
    var form: TokenCaller.Form = [("grant_type", .text(grant.grantType))]
    if case .exchange(let exchange) = grant {
      form += fields(of: exchange, shown)
    } else if let assertion = shown.first {
      form.append(("assertion", .secret(assertion.value)))
    }
    form += target.audience == nil ? wishes(scopes) : scope(scopes) + (try audience(of: target))
    let isTarget = !target.scopes.isEmpty || target.audience != nil
    do throws(ProviderFailure) {
      let purpose: OAuthPurpose = grant.name == .exchange ? .exchange : .assertion
      let reply = try await ask(purpose, try await tokenEndpoint(), form, key: key)
      var tokens = try await reply.tokens(asked: scopes)
      if grant.name == .exchange, let end = shown.compactMap(\.end).min() {
        tokens.accessTokenExpiresAt = min(tokens.accessTokenExpiresAt ?? end, end)
      }
      return tokens
    } catch {
      if case .outcomeUnknown(let kind, let retryAfter) = error { throw .transient(kind, retryAfter: retryAfter) }
      throw isTarget && error == .misconfigured(.scopes) ? .refused(.insufficientScope) : error
    }
  }

  private func fields(of exchange: TokenExchange, _ shown: [SubjectToken]) -> TokenCaller.Form {
    var form: TokenCaller.Form = []
    if let subject = shown.first {
      form += [("subject_token", .secret(subject.value)), ("subject_token_type", .text(exchange.subjectType))]
    }
    if exchange.actor != nil, let actor = shown.last {
      form += [("actor_token", .secret(actor.value)), ("actor_token_type", .text(exchange.actorType))]
    }
    if let type = exchange.requestedType { form.append(("requested_token_type", .text(type))) }
    return form
  }
}
