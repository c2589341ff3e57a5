package import BrokerCore
import SecretMemory
import Synchronization

/// Tokens without a login, by what the test says of refreshes.
extension ScriptedProvider: GrantProvider {
  package nonisolated var grantName: String { "exchange" }

  package nonisolated var subjects: [SubjectReference] { state.withLock { $0.grant ?? [] } }

  package func tokens(
    for target: TokenTarget, showing subjects: [SubjectToken], boundTo key: ProofKey?
  ) async throws(ProviderFailure) -> TokenSet {
    state.withLock { $0.shown.append(subjects.map { $0.value.revealedString() ?? "" }) }
    var tokens = try await refresh(BoundToken(Self.secret("grant")))
    tokens.refreshToken = BoundToken(Self.secret("grant"))
    tokens.refreshTokenExpiresAt = nil
    tokens.accessToken = BoundToken(tokens.accessToken.value, state.withLock { $0.grantToken })
    if !self.subjects.contains(where: \.isAssertion), let end = subjects.compactMap(\.end).min() {
      tokens.accessTokenExpiresAt = min(tokens.accessTokenExpiresAt ?? end, end)
    }
    return tokens
  }

  /// Makes it one whose tokens need no login, and are issued for those of other profiles.
  package nonisolated func grants(for subjects: [SubjectReference] = [], _ kind: BoundToken.Kind = .bearer) {
    state.withLock { ($0.grant, $0.grantToken, $0.methods, $0.isClientsOwn) = (subjects, kind, [], true) }
  }

  /// The tokens of other profiles that each request has shown.
  package nonisolated var shown: [[String]] { state.withLock { $0.shown } }
}
