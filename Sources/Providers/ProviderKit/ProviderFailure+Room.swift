package import BrokerCore
import BrokerProtocol
import LinuxSystem
package import SecretMemory

/// Retries and failures where the locked memory has no room for the secrets of a reply.
extension ProviderFailure {
  /// For how long the reply to a refresh is kept and read again.
  ///
  /// Its tokens may be the only copy of the session, so it is given up only when no room has come back for longer than
  /// any busy broker needs. Kept replies are bounded by the profiles, each of which has one refresh under way, and by
  /// the longest reply.
  package static let refreshPatience = Duration.seconds(600)

  /// For how long any other reply is kept: as long as a person waits for an interactive call.
  package static let interactivePatience = Duration.seconds(10)
}

extension SecretArena {
  /// Runs a closure that makes secrets of a reply, again each time that room has come back.
  ///
  /// - Throws: `.outcomeUnknown` where there was no room for so long: the provider has acted, and what it gave is lost.
  package static func withRoomForReply<R>(
    patience: Duration, _ body: () throws(SecretMemoryExhausted) -> R
  ) async throws(ProviderFailure) -> R {
    do throws(SecretMemoryExhausted) {
      return try await withRoom(patience: patience, alarm: TaskThread.shared.schedule, body)
    } catch { throw .outcomeUnknown(.overloaded) }
  }
}
