package import BrokerCore
import SecretMemory
import Synchronization

/// Tokens for other targets, where a test says how they are answered.
extension ScriptedProvider: TargetProvider {
  package nonisolated func canGive(_ target: TokenTarget) -> Bool { state.withLock { $0.targetAnswer != nil } }

  package func accessToken(
    for target: TokenTarget, refreshToken: BoundToken
  ) async throws(ProviderFailure) -> TokenSet {
    let answer = state.withLock { state in
      state.spent.append(refreshToken.value.revealedString() ?? "")
      state.targets.append(target)
      return state.targetAnswer
    }
    switch answer {
    case .succeeds(let lifetime): return tokens(for: target, lifetime)
    case .keepsRefreshToken:
      var tokens = tokens(for: target, .seconds(900))
      tokens.refreshToken = nil
      return tokens
    case .fails(let failure): throw failure
    case .wantsCode: throw .challenged(challenge)
    case nil: throw .unsupported
    }
  }

  private func tokens(for target: TokenTarget, _ lifetime: Duration) -> TokenSet {
    var tokens = tokens(lifetime: lifetime)
    tokens.scopes = target.scopes
    return tokens
  }
}
