package import BrokerProtocol
package import SecretMemory

/// What is kept of a profile's session, living or ended.
package struct SessionRecord: Sendable, Equatable {
  /// The profile.
  package var profile: ProfileName
  /// What the session is bound to.
  package var binding: ProviderBinding
  /// Grows with every change of the tokens; a writer with an old one comes too late.
  package var generation: UInt64
  /// The tokens, or why there are none.
  package var contents: Contents

  /// What a record holds.
  package enum Contents: Sendable, Equatable {
    /// A session with tokens.
    case living(LivingSession)
    /// A session that ended by itself: the user must log in again.
    case ended(SessionExpiredEvent.Reason, at: Timestamp)
    /// A session that ended because its provider wants to see the user again.
    case reauthenticationRequired(at: Timestamp)
    /// A session that was ended by hand.
    case signedOut(at: Timestamp)
  }

  package init(profile: ProfileName, binding: ProviderBinding, generation: UInt64, contents: Contents) {
    self.profile = profile
    self.binding = binding
    self.generation = generation
    self.contents = contents
  }
}

/// A session with tokens, and what is known about it.
package struct LivingSession: Sendable, Equatable {
  /// The tokens.
  package var tokens: TokenSet
  /// Whose session it is.
  package var user: User?
  /// When the user last proved who they are.
  package var authTime: Timestamp
  /// When the tokens were issued to us, for the lifetime of the access token.
  package var issuedAt: Timestamp
  /// Since when the refresh token ends when it does; nil in records of earlier versions.
  ///
  /// A refresh that does not put its end off leaves this as it is.
  package var refreshTokenIssuedAt: Timestamp?
  /// The clocks by which these times are; nil in records of earlier versions.
  package var clock: IssueClock?
  /// When the tokens were last refreshed.
  package var lastRefreshAt: Timestamp?
  /// When the provider last accepted something of the session.
  package var lastValidatedAt: Timestamp
  /// Whether the provider gives another refresh token for each one that is spent, as its replies have shown; nil where no
  /// reply has shown it yet.
  package var rotatesRefreshToken: Bool?
  /// When a client last used the session, as of the last time that it was written down.
  package var lastUsedAt: Timestamp?
  /// When a client used the session, written down once an hour, where no timeout asks for more.
  package var roughlyUsedAt: Timestamp?
  /// The one or the other in uptime, counted from the start of the machine that ``clock`` names.
  package var lastUsedUptime: Duration?
  /// What a newer version of the program has written beside all this: JSON members, carried along unread.
  package var unknownMembers: Secret?

  package init(
    tokens: TokenSet, user: User?, authTime: Timestamp, issuedAt: Timestamp, lastRefreshAt: Timestamp? = nil,
    lastValidatedAt: Timestamp
  ) {
    self.tokens = tokens
    self.user = user
    self.authTime = authTime
    self.issuedAt = issuedAt
    self.lastRefreshAt = lastRefreshAt
    self.lastValidatedAt = lastValidatedAt
  }

  /// The same session with its secrets outside of the arena: thousands of sessions have room, and each is opened on use.
  package consuming func resting() -> LivingSession {
    tokens = tokens.resting()
    unknownMembers = unknownMembers?.resting()
    return self
  }
}
