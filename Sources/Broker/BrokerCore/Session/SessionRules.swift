package import BrokerProtocol

/// The configured rules for a profile's sessions.
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

  /// How long before its end a session's user is warned; zero where not at all.
  package var warnBeforeEnd: Duration

  /// Thirty days: over a holiday; no refresh token that is worth keeping lives for much longer without use.
  package static let standardKeepAlive = Duration.seconds(2_592_000)
  /// The extent of a revocation at the provider; nil where the profile does not say.
  package var revocation: RevocationHabit?

  /// Rules; without any, nothing is known of the provider, and no session ends for want of use.
  package init(
    expiry: ExpiryPolicy = ExpiryPolicy(), rotation: Rotation = .auto, rotationGrace: Duration = .zero,
    idleTimeout: Duration = .zero, keepAlive: Duration = Self.standardKeepAlive, revocation: RevocationHabit? = nil,
    warnBeforeEnd: Duration = .zero
  ) {
    self.expiry = expiry
    self.rotation = rotation
    self.rotationGrace = rotationGrace
    self.idleTimeout = idleTimeout
    self.keepAlive = keepAlive
    self.revocation = revocation
    self.warnBeforeEnd = warnBeforeEnd
  }
}

/// When a token is good enough, and when it is time for a new one.
package struct ExpiryPolicy: Sendable, Equatable {
  /// How long a token must still live unless the request says otherwise.
  package var skew: Duration
  /// Whether tokens are refreshed before a caller asks.
  package var refreshesInBackground: Bool

  /// A skew below this would hand out tokens that end on their way.
  package static let shortestSkew = Duration.seconds(15)

  /// A policy; a skew below the floor is raised to it.
  package init(skew: Duration = .seconds(30), refreshesInBackground: Bool = true) {
    self.skew = max(skew, Self.shortestSkew)
    self.refreshesInBackground = refreshesInBackground
  }
}

/// Whether a provider gives another refresh token for each one that is spent (RFC 9700, section 4.14.2).
///
/// What is spent twice at a provider that rotates is taken for stolen, so the answer decides what may be sent again.
package enum Rotation: String, Sendable, CaseIterable {
  /// Learnt from the provider's replies: one that brings another token shows it, three in a row without one show the
  /// contrary; until then as ``always``.
  case auto
  /// It does, whatever its replies have shown.
  case always
  /// It does not: a refresh whose reply was lost is sent again, and none is written down before.
  case never
}

/// One configured profile, as the core needs it.
package struct ProfileSettings: Sendable {
  /// The profile.
  package var name: ProfileName
  /// The provider.
  package var provider: any AuthProvider
  /// The rules for its sessions.
  package var rules: SessionRules
  /// Whether clients may have the session's ID token.
  package var allowsIDToken: Bool
  /// The requests that clients may have sent; nil for none.
  package var requests: RequestSettings?
  /// The store that the session is shared in with other brokers; nil for the broker's own.
  package var records: (any RecordStore)?

  package init(
    name: ProfileName, provider: any AuthProvider, rules: SessionRules = SessionRules(), allowsIDToken: Bool = false,
    requests: RequestSettings? = nil, records: (any RecordStore)? = nil
  ) {
    self.name = name
    self.provider = provider
    self.rules = rules
    self.allowsIDToken = allowsIDToken
    self.requests = requests
    self.records = records
  }
}
