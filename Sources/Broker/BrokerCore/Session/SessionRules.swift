/// What the configuration says of the sessions of a profile.
package struct SessionRules: Sendable, Equatable {
  /// When tokens are good enough.
  package var expiry: ExpiryPolicy
  /// Whether the provider rotates refresh tokens.
  package var rotation: Rotation
  /// For how long the provider takes a refresh token that was spent once more; zero where it does not.
  ///
  /// It is counted from when the token was sent.
  package var rotationGrace: Duration
  /// A session that no client has used for so long ends; zero where none does.
  package var idleTimeout: Duration
  /// A session that a client has used within this time is refreshed before it is asked for.
  package var keepAlive: Duration

  /// Thirty days: over a holiday; no refresh token that is worth keeping lives for much longer without use.
  package static let standardKeepAlive = Duration.seconds(2_592_000)
  /// What ends at the provider with a token that is revoked; nil where the profile does not say.
  package var revocation: RevocationHabit?

  /// Rules; without any, nothing is known of the provider, and no session ends for want of use.
  package init(
    expiry: ExpiryPolicy = ExpiryPolicy(), rotation: Rotation = .auto, rotationGrace: Duration = .zero,
    idleTimeout: Duration = .zero, keepAlive: Duration = Self.standardKeepAlive, revocation: RevocationHabit? = nil
  ) {
    self.expiry = expiry
    self.rotation = rotation
    self.rotationGrace = rotationGrace
    self.idleTimeout = idleTimeout
    self.keepAlive = keepAlive
    self.revocation = revocation
  }
}
