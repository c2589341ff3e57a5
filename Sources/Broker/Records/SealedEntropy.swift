import BrokerCore
import Sealing
package import SecretMemory
import Synchronization
import TextCoding

/// The source of handles and token names for the core, with the key of one vault while that is open.
package final class SealedEntropy: Entropy {
  /// The random bytes of a handle: one more than 256 bits, of which the choice of the first character spends a
  /// fraction.
  private static let handleByteCount = 33
  private let fingerprint = Mutex<TokenFingerprint?>(nil)
  private let jitter = Mutex(JitterGenerator())

  /// A source that has handles, and no names before ``use(_:)``.
  package init() {}

  /// Names tokens with a key from now on; nil where the vault is locked.
  package func use(_ fingerprint: TokenFingerprint?) {
    self.fingerprint.withLock { $0 = fingerprint }
  }

  /// More than 256 random bits in base64url; never with a dash in front, which on a command line begins an option.
  package func handle() -> String {
    while true {
      let text = Base64.encode(RandomBytes.array(count: Self.handleByteCount).span, as: .url)
      if text.first != UInt8(ascii: "-") { return String(decoding: text, as: UTF8.self) }
    }
  }

  /// A hash without a key: who can read it has the vault's.
  package func digest(of contents: [UInt8]) -> String {
    String(decoding: Base64.encode(KeyedHash.unkeyedDigest(of: contents.span).span, as: .url), as: UTF8.self)
  }

  /// A random number from 0 to 1: one is drawn for each event of each session.
  package func fraction() -> Double { jitter.withLock { Double.random(in: 0...1, using: &$0) } }

  /// The token's keyed fingerprint; while the vault is locked, when there is no token to compare with, a name that is
  /// unique.
  package func tokenID(of token: Secret) -> String {
    fingerprint.withLock { $0 }?.name(of: token) ?? handle()
  }
}
