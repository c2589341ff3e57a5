import BrokerCore
import BrokerProtocol
import SecretMemory
import Synchronization

/// The memory of logins that wait for a code: a backend that sends another code does not repeat everything, and one
/// without an endpoint for that wants the credentials again.
final class PendingChallenges: Sendable {
  /// One login.
  struct Entry: Sendable {
    /// The last challenge of the backend.
    var challenge: ProviderChallenge
    /// The credentials, where the backend wants them again.
    var credentials: Credentials?
  }

  /// More than a profile can have: its newest login replaces the others.
  private static let most = 16

  private let entries = Mutex<[Entry]>([])

  /// Remembers a login; those that have ended are forgotten.
  func remember(_ challenge: ProviderChallenge, _ credentials: Credentials?, at now: Timestamp) {
    entries.withLock { entries in
      entries.removeAll { $0.challenge.flow == challenge.flow || $0.challenge.expiresAt <= now }
      if entries.count >= Self.most { entries.removeFirst() }
      entries.append(Entry(challenge: challenge, credentials: credentials))
    }
  }

  /// The login of a handle.
  func find(_ flow: Secret) -> Entry? {
    entries.withLock { $0.first { $0.challenge.flow == flow } }
  }

  /// Forgets a login and its credentials.
  func forget(_ flow: Secret) {
    entries.withLock { $0.removeAll { $0.challenge.flow == flow } }
  }

  /// Forgets what has ended.
  func forgetEnded(at now: Timestamp) {
    entries.withLock { $0.removeAll { $0.challenge.expiresAt <= now } }
  }

  /// Counts a wrong code, as the backend counts or else here.
  ///
  /// - Parameters:
  ///   - flow: the login's handle.
  ///   - said: how many more the backend accepts, if it says so.
  /// - Returns: how many more are accepted; nil where the login is not known.
  func countWrongCode(_ flow: Secret, said: Int?) -> Int? {
    entries.withLock { entries in
      guard let index = entries.firstIndex(where: { $0.challenge.flow == flow }) else { return said }
      let rest = said ?? max(0, entries[index].challenge.attemptsRemaining - 1)
      entries[index].challenge.attemptsRemaining = rest
      return rest
    }
  }
}
