package import BrokerProtocol

/// The changes of an account that need a recent authentication of its user.
package enum RecentProof {
  /// The longest age of a recent authentication, by the contract: long enough to fill in a form, short enough that a
  /// session left open is no way in.
  static let maxAge = Duration.seconds(300)
  /// How far in the future an authentication may seem to lie: clocks are often off by that much.
  static let clockTolerance = Duration.seconds(5)
  /// The members by whose change the account could be taken over.
  static let sensitiveMembers: Set<String> = ["email", "phoneNumber", "twoFactor"]

  /// Whether these changes want a recent proof.
  package static func isWanted(for changes: ProfileChanges) -> Bool {
    changes.members.contains { sensitiveMembers.contains($0.name) }
  }

  /// Whether an authentication at `authTime` is recent enough.
  ///
  /// One in the future is not: the clock was set back since, and its age is unknown.
  package static func isRecent(_ authTime: Timestamp, at now: Timestamp) -> Bool {
    let age = now - authTime
    return age <= maxAge && age >= .zero - clockTolerance
  }
}

/// Whether the session of a login is the expected user's.
package enum SessionProof: Sendable, Equatable {
  /// It is, or no certain user was expected.
  case given
  /// It is another user's, or the provider does not tell whose it is.
  case otherUser
  /// It would replace another user's living session, which its connection may not replace.
  case replacesAnother
  /// The provider, asked whose it is, failed: that is no other user.
  case unknown(ProviderFailure)
}
