import BrokerCore
import Sealing
package import SecretMemory

/// The core's source of handles and token names, with the key of one vault.
package struct SealedEntropy: Entropy {
  /// One more than 256 bits, of which the choice of the first character spends a fraction of one.
  private static let handleByteCount = 33
  private let fingerprint: TokenFingerprint

  /// Names tokens with this key.
  package init(fingerprint: TokenFingerprint) {
    self.fingerprint = fingerprint
  }

  /// More than 256 random bits in base64url; never with a dash in front, which on a command line begins an option.
  package func handle() -> String {
    while true {
      let text = Base64URL.encode(RandomBytes.array(count: Self.handleByteCount).span)
      if text.first != UInt8(ascii: "-") { return String(decoding: text, as: UTF8.self) }
    }
  }

  /// The token's keyed fingerprint.
  package func tokenID(of token: Secret) -> String {
    fingerprint.name(of: token)
  }
}
