package import SecretMemory

/// The private key that a session's tokens are bound to (RFC 9449): who presents one of them shows a proof that this key
/// has signed.
///
/// Each session has its own. It is sealed with the tokens, goes with them from each refresh to the next, and ends with
/// them; nothing gives it out.
package final class ProofKey: Sendable, Equatable {
  /// The key, in DER.
  package let der: Secret

  /// A key.
  package init(der: Secret) { self.der = der }

  /// The same key outside of the arena: see `Secret.resting()`.
  func resting() -> ProofKey { ProofKey(der: der.resting()) }

  package static func == (left: ProofKey, right: ProofKey) -> Bool { left === right || left.der == right.der }
}
