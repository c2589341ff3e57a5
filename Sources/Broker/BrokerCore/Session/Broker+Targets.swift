import BrokerProtocol
import SecretMemory

/// Tokens for other scopes, or for another audience, than the session's own.
extension Broker {
  /// The target of a request; nil where it names none.
  ///
  /// - Throws: `invalidParams` for a malformed scope or audience; `unsupportedByProvider` for an audience where the
  ///   provider knows none.
  func target(
    _ scopes: [String]?, _ audience: String?, on slot: ProfileSlot
  ) throws(BrokerError) -> TokenTarget? {
    guard let target = try TokenTarget(scopes: scopes, audience: audience) else { return nil }
    guard target.audience == nil || slot.provider.capabilities.canGive(target) else {
      throw BrokerError(
        .unsupportedByProvider, "The provider of this profile does not issue tokens for another audience.",
        profile: slot.name)
    }
    return target
  }

  /// Whether the provider has tokens for such a target; the session's own may suffice where it has none.
  func canGive(_ target: TokenTarget?, _ slot: ProfileSlot) -> Bool {
    target.map { slot.provider.capabilities.canGive($0) } ?? true
  }

  /// Identifies the token that a client reports: its target, and whether it is the present token for that.
  ///
  /// A target in the report holds; otherwise the token is found by its name, for as long as that is kept.
  func report(
    _ params: ReportRejected.Params, on slot: ProfileSlot
  ) throws(BrokerError) -> (target: TokenTarget?, isCurrent: Bool) {
    let asked = try target(params.scopes, params.audience, on: slot)
    guard let id = params.accessToken.map({ entropy.tokenID(of: $0) }) ?? params.tokenID else { return (asked, false) }
    let target = asked ?? slot.machine.target(ofTokenNamed: id)
    return (target, slot.machine.isCurrent(tokenNamed: id, for: target))
  }

  /// The answer with a token for another target.
  func render(_ token: OtherToken, _ marks: TokenMarks, of slot: ProfileSlot) -> Result<Secret, BrokerError> {
    if let error = Self.refusal(of: token.bound, slot) { return .failure(error) }
    counts.tokens += 1
    if let json = slot.rendered.answer(with: token, marks) { return .success(json) }
    let answer = AccessToken(
      accessToken: token.accessToken, expiresAt: token.expiresAt, scopes: token.scopes, profile: slot.name,
      tokenID: entropy.tokenID(of: token.accessToken), audience: token.target.audience, isOffline: marks.isOffline,
      isMinValidityCapped: marks.isCapped, tokenType: token.bound.kind.name)
    let result = rendered(answer, of: slot)
    if case .success(let json) = result { slot.rendered.keep(json, with: token, marks) }
    return result
  }

  /// Spends a refresh token for the session's own tokens, or for a target's.
  static func ask(
    _ provider: any AuthProvider, _ refreshToken: BoundToken, _ target: TokenTarget?
  ) async throws(ProviderFailure) -> TokenSet {
    guard let target else { return try await provider.refresh(refreshToken) }
    return try await provider.require(\.targets).accessToken(for: target, refreshToken: refreshToken)
  }
}
