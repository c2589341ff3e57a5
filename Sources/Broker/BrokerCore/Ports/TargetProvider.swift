/// A provider that gives a session access tokens for more than one target.
package protocol TargetProvider: Sendable {
  /// Whether there may be tokens for a target, as far as that is known without asking the provider.
  func canGive(_ target: TokenTarget) -> Bool

  /// Spends the refresh token for an access token of another target than the session's.
  ///
  /// A refresh token in the answer replaces the session's; the session's own access token stays as it is. A refusal says
  /// nothing of the session, unless it is `.sessionEnded` with an alert.
  func accessToken(for target: TokenTarget, refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet
}
