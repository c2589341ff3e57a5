package import SecretMemory

/// What the core needs of cryptography: handles that nobody can guess, and names for tokens that tell nothing.
package protocol Entropy: Sendable {
  /// A handle of 256 random bits, in base64url (RFC 4648, section 5).
  func handle() -> String

  /// A short keyed hash of a token: equal if and only if the token is equal, in this state directory.
  func tokenID(of token: Secret) -> String
}
