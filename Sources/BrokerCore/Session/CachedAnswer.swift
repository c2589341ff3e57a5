import BrokerProtocol
import JSONRPC
import SecretMemory

/// The answer to `getAccessToken`, rendered once for as long as the token is good.
struct CachedAnswer: Sendable {
  /// The JSON of the result.
  let json: Secret
  /// When the token ends, in milliseconds since 1970; nil where it has no end.
  let expiresAt: Int64?
  /// How long the token lives in all, in milliseconds.
  let lifetime: Int64
  /// What is asked of a token where the request says nothing, in milliseconds.
  let skew: Int64

  /// Whether the token serves a caller who needs it for so many milliseconds.
  ///
  /// The same rule as ``ExpiryPolicy``'s, in whole numbers: this is asked once a request.
  func isGood(for minValidity: Int64?, at now: Int64) -> Bool {
    guard let expiresAt else { return true }
    let wanted = minValidity ?? skew
    let rest = expiresAt - now
    return rest > 0 && (rest >= wanted || lifetime < wanted)
  }

  /// Renders a token.
  ///
  /// - Throws: `SecretMemoryExhausted` where the locked memory has no room for it.
  static func render(_ token: AccessToken) throws(SecretMemoryExhausted) -> Secret {
    var writer = JSONWriter()
    token.encode(to: &writer)
    return try Secret(wiping: &writer.bytes)
  }
}
