package import BrokerProtocol
package import SecretMemory

/// The record of a profile's session, living or ended.
package struct SessionRecord: Sendable, Equatable {
  /// The profile.
  package var profile: ProfileName
  /// The binding of the session.
  package var binding: ProviderBinding
  /// Grows with every change of the tokens; a writer with an old one comes too late.
  package var generation: UInt64
  /// The tokens, or why there are none.
  package var contents: Contents
  /// Whether it is written to the store: that of a secret of the configuration never is.
  package var isKept = true
  /// In a store that other brokers share: the generation of the record that it follows; nil where it takes the place of any,
  /// as a login and a logout do.
  package var followed: UInt64?

  /// The contents of a record.
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

/// A session with tokens, and the facts about it.
package struct LivingSession: Sendable, Equatable {
  /// The tokens.
  package var tokens: TokenSet
  /// The session's user.
  package var user: User?
  /// When the user last authenticated.
  package var authTime: Timestamp
  /// When the tokens were issued to us, for the lifetime of the access token.
  package var issuedAt: Timestamp
  /// The time from which on the refresh token has its present expiry; nil in records of earlier versions.
  ///
  /// A refresh that does not put its expiry off leaves this as it is.
  package var refreshTokenIssuedAt: Timestamp?
  /// The clocks by which these times are; nil in records of earlier versions.
  package var clock: IssueClock?
  /// Whether the user has been warned of the end that the session has at present.
  package var isEndTold = false
  /// When the tokens were last refreshed.
  package var lastRefreshAt: Timestamp?
  /// When the provider last accepted something of the session.
  package var lastValidatedAt: Timestamp
  /// Whether the provider gives another refresh token for each one that is spent: true where a reply has shown it,
  /// false where the provider has said that it does not; nil where ``unrotatedReplies`` decides.
  package var rotatesRefreshToken: Bool?
  /// How many replies in a row came without another refresh token.
  package var unrotatedReplies = 0
  /// The extent of a revocation at the provider, as observed before the login; nil where none was.
  package var revocation: RevocationHabit?
  /// When a client last used the session, as of the last time that it was written down.
  package var lastUsedAt: Timestamp?
  /// When a client used the session, written down once an hour, where no timeout asks for more.
  package var roughlyUsedAt: Timestamp?
  /// The time of that use in uptime, counted from the start of the machine that ``clock`` names.
  package var lastUsedUptime: Duration?
  /// The demands of a server on the next login; nil where there are none.
  package var stepUp: StepUp?
  /// The JSON members that a newer version of the program has written, carried along unread.
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

  /// The number of replies without another refresh token after which the provider counts as not rotating: some rotate
  /// only now and then.
  package static let unrotatedRepliesEnough = 3

  /// Whether spending the refresh token may bring another one.
  package var mayRotate: Bool { rotatesRefreshToken ?? (unrotatedReplies < Self.unrotatedRepliesEnough) }

  /// Takes in whether a reply has brought another refresh token.
  mutating func noteReply(isRotated: Bool) {
    unrotatedReplies = isRotated ? 0 : min(unrotatedReplies + 1, Self.unrotatedRepliesEnough)
    if isRotated { rotatesRefreshToken = true }
  }

  /// The same session with its secrets outside of the arena: thousands of sessions have room, and each is opened on use.
  package consuming func resting() -> LivingSession {
    tokens = tokens.resting()
    unknownMembers = unknownMembers?.resting()
    return self
  }
}
