package import BrokerCore
import BrokerProtocol
import SecretMemory

/// Sessions and their tokens.
extension RESTProvider: RevocationProvider, TargetProvider {
  /// Spends the refresh token; it is sent once.
  ///
  /// - Throws: `.sessionEnded(.refreshRejected)` where the backend itself refuses the token for good;
  ///   `.outcomeUnknown` where the reply was lost; `.challenged` where a code is wanted instead, and
  ///   `.reauthenticationRequired` where it does not say how to give it; `.transient` for everything else.
  package func refresh(_ refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet {
    try await spend(refreshToken)
  }

  /// Whether the mapping says how the backend is asked for such a token.
  package func canGive(_ target: TokenTarget) -> Bool {
    let names = mapping.endpoints[.refresh]?.fields ?? [:]
    return (target.audience == nil || names[.audience] != nil) && (target.scopes.isEmpty || names[.scope] != nil)
  }

  /// Requests an access token for another audience or other scopes with the session's refresh token, which is sent
  /// once.
  ///
  /// - Throws: as ``refresh(_:)``; `.refused(.insufficientScope)` where the mapping says that the refusal means that.
  package func accessToken(
    for target: TokenTarget, refreshToken: BoundToken
  ) async throws(ProviderFailure) -> TokenSet {
    guard canGive(target) else { throw .unsupported }
    var values: [(RESTEndpoint.Field, RequestFields.Value)] = []
    if let audience = target.audience { values.append((.audience, .text(audience))) }
    if !target.scopes.isEmpty { values.append((.scope, .text(target.scopes.joined(separator: " ")))) }
    return try await spend(refreshToken, values)
  }

  private func spend(
    _ refreshToken: BoundToken, _ more: [(RESTEndpoint.Field, RequestFields.Value)] = []
  ) async throws(ProviderFailure) -> TokenSet {
    let reply = try await publicCaller.ask(.refresh, [(.refreshToken, .secret(refreshToken.value))] + more)
    let allowsBackupCodes = mapping.endpoints[.verifyBackupCode] != nil
    let outcome = try await reply.read { reader throws(SecretMemoryExhausted) -> RefreshOutcome? in
      if reader.asksForCode { return .codeWanted(try reader.challenge(allowsBackupCodes: allowsBackupCodes)) }
      switch try reader.reading() {
      case .tokens(let tokens): return .issued(tokens)
      case .flawed(let flawed): return flawed.rotated.map { .rotated($0) }
      case nil: return nil
      }
    }
    switch outcome {
    case .issued(let tokens): return tokens
    case .rotated(let rotated): throw .rotated(rotated)
    case .codeWanted(let challenge?):
      remember(challenge, nil)
      throw .challenged(challenge)
    case .codeWanted(nil): throw .reauthenticationRequired
    }
  }

  /// The outcome of a refresh.
  private enum RefreshOutcome {
    /// There are new tokens.
    case issued(TokenSet)
    /// There is a refresh token alone.
    case rotated(RotatedToken)
    /// A code is wanted first.
    case codeWanted(ProviderChallenge?)
  }

  /// The end of a session is the end of that session only.
  package var habit: RevocationHabit? { .token }

  /// Ends the session at the backend, in the way that the mapping says.
  ///
  /// - Throws: `.refused` where the backend does not know the token any more; `.unsupported`; `.transient`;
  ///   `.outcomeUnknown`.
  package func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure) {
    try await end(tokens.accessToken, tokens.refreshToken, everywhere: everywhere)
  }

  /// Ends what was issued, as far as it can be named in the way that the mapping says.
  private func end(
    _ accessToken: BoundToken?, _ refreshToken: BoundToken?, everywhere: Bool = false
  ) async throws(ProviderFailure) {
    var values: [(RESTEndpoint.Field, RequestFields.Value)] = []
    if everywhere { values.append((.everywhere, .constant(.flag(true)))) }
    switch (mapping.revokeStyle, refreshToken) {
    case (.bearer, _), (.body, nil):
      guard let accessToken else { return }
      try await sessionCaller.ask(.logout, values, as: accessToken).expectSuccess()
    case (.body, let refreshToken?):
      values.append((.refreshToken, .secret(refreshToken.value)))
      try await publicCaller.ask(.logout, values).expectSuccess()
    case (.rfc7009, let refreshToken):
      guard let token = refreshToken ?? accessToken else { return }
      let hint = refreshToken == nil ? "access_token" : "refresh_token"
      try await publicCaller.ask(
        .logout, values, extra: [("token", .secret(token.value)), ("token_type_hint", .text(hint))], encoding: .form
      ).expectSuccess()
    }
  }

  /// Reads the reply to a login, and has tokens revoked that are no session: nothing else would end them.
  ///
  /// - Throws: as ``BackendReply/read(_:)``; `.rejected` for tokens of a type that cannot be used.
  func read<R>(
    _ reply: BackendReply, _ body: (ReplyReader) throws(SecretMemoryExhausted) -> R?
  ) async throws(ProviderFailure) -> R {
    var flawed: ReplyReader.FlawedTokens?
    do throws(ProviderFailure) {
      return try await reply.read { reader throws(SecretMemoryExhausted) in
        let found = try body(reader)
        if found == nil, case .flawed(let tokens) = try reader.reading() { flawed = tokens }
        return found
      }
    } catch {
      guard let flawed else { throw error }
      try? await end(flawed.accessToken.map { BoundToken($0) }, flawed.rotated?.refreshToken)
      throw flawed.rejection.said == nil ? error : .rejected(flawed.rejection)
    }
  }
}
