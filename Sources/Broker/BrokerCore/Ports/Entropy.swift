package import SecretMemory

/// Randomness and hashes for the core: unguessable handles, token names that reveal nothing, and jitter.
package protocol Entropy: Sendable {
  /// A handle of 256 random bits, in base64url (RFC 4648, section 5).
  func handle() -> String

  /// A short keyed hash of a token: equal if and only if the token is equal, in this state directory.
  func tokenID(of token: Secret) -> String

  /// A hash of 256 bits in base64url, by which contents are known again that are not kept.
  func digest(of contents: [UInt8]) -> String

  /// A random number from 0 to 1, for the spreading of waits; it need not be secret.
  func fraction() -> Double
}

extension Entropy {
  /// A number of the system's generator.
  package func fraction() -> Double { Double.random(in: 0...1) }
}
