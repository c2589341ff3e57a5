import BrokerCore
import SecretMemory
import Synchronization
import TestSupport

/// Handles that a test can foresee.
final class CountingEntropy: Entropy {
  private let count = Mutex(0)

  func handle() -> String {
    count.withLock { count in
      count += 1
      return "handle-\(count)"
    }
  }

  func tokenID(of token: Secret) -> String { "id-\(token.revealedString()?.suffix(1) ?? "")" }

  func digest(of contents: [UInt8]) -> String { String(decoding: contents, as: UTF8.self) }
}
