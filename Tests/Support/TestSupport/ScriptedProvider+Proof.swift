package import BrokerCore
package import SecretMemory
import Synchronization

/// Tokens that are bound to a key, where a test says so; a proof is no signature here, and shows all that it is made for.
extension ScriptedProvider: ProofProvider {
  /// Lets sessions have a key.
  package nonisolated func setKey(_ key: ProofKey?) { state.withLock { $0.key = key } }

  package nonisolated func proof(of token: BoundToken, for request: ProvenRequest) throws(ProviderFailure) -> Secret {
    guard token.kind == .proven, let key = token.key?.der.revealedString() else { throw .unsupported }
    let words = [key, token.value.revealedString() ?? "", request.method, request.address, request.nonce ?? "-"]
    return Self.secret(words.joined(separator: "|"))
  }
}
