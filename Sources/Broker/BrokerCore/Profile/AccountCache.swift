import BrokerProtocol

/// What a provider has said of the account of a session.
struct AccountCache {
  /// The account, as the provider last described it; nil where it has not since the login.
  private(set) var user: User?
  private var fetchedAt: Duration?
  /// How many backup codes were left after the last login by one, where the provider said so.
  var backupCodesRemaining: Int?

  /// Notes how the provider has described the account; nil where it has not.
  mutating func note(_ user: User?, at uptime: Duration) {
    self.user = user
    fetchedAt = user.map { _ in uptime }
  }

  /// Forgets the account: the session is over, or is another one.
  mutating func forgetUser() { (user, fetchedAt) = (nil, nil) }

  /// The account, where it was described at most so long ago.
  func user(notOlderThan age: Duration, at uptime: Duration) -> User? {
    guard let fetchedAt, uptime - fetchedAt <= age else { return nil }
    return user
  }
}
