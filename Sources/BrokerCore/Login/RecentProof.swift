package import BrokerProtocol

/// Which changes of an account want a user who has proved lately who they are.
package enum RecentProof {
  /// The contract's number: long enough to fill in a form, short enough that a session left open is no way in.
  static let maxAge = Duration.seconds(300)
  /// How far in the future a proof may seem to lie: clocks are often off by that much.
  static let clockTolerance = Duration.seconds(5)
  /// What a change of it could take the account over with.
  static let sensitiveMembers: Set<String> = ["email", "phoneNumber", "twoFactor"]

  /// Whether changing these members wants a proof that is newer than the one at `authTime`.
  ///
  /// A proof in the future is none: the clock was set back since, and its age is unknown.
  package static func isMissing(for changes: ProfileChanges, authTime: Timestamp, at now: Timestamp) -> Bool {
    guard changes.members.contains(where: { sensitiveMembers.contains($0.name) }) else { return false }
    let age = now - authTime
    return age > maxAge || age < .zero - clockTolerance
  }
}
