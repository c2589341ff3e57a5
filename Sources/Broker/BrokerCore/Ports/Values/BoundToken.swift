package import SecretMemory

/// A token with what a server wants to see beside it.
package struct BoundToken: Sendable, Equatable {
  /// How a token is shown to a server (RFC 6749, section 7.1).
  package enum Kind: Sendable {
    /// By itself: it is good for everyone who has it (RFC 6750).
    case bearer
  }

  /// The token.
  package let value: Secret
  /// How it is shown.
  package let kind: Kind

  /// A token of a kind.
  package init(_ value: Secret, _ kind: Kind = .bearer) {
    self.value = value
    self.kind = kind
  }

  /// The same token outside of the arena: see `Secret.resting()`.
  package func resting() -> BoundToken { BoundToken(value.resting(), kind) }
}
