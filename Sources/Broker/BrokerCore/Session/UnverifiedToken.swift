package import BrokerProtocol
package import JSON
package import SecretMemory
import TextCoding

/// A token read as a JWT (RFC 7519) without a check of its signature: what it says is a hint, no proof.
///
/// The token is its server's to understand; a broker that knows no lifetime otherwise looks for `exp` in it.
package enum UnverifiedToken {
  /// Longer payloads are not looked into: a token in a header field has a few KiB.
  private static let longestPayload = JSONNode.tokenByteLimit
  /// Foreign input: no claim of use is nested deeper, and a number may be of any size.
  private static let limits = JSONLimits(depth: 64, byteCount: longestPayload, toleratesLargeNumbers: true)

  /// Reads the claims of a token; when it returns, nothing refers to their bytes any more.
  ///
  /// - Returns: what `read` makes of them; nil for what is no JWT.
  package static func claims<Value>(of token: Secret, _ read: (JSONNode) -> Value?) -> Value? {
    var payload = token.withBytes { Self.middlePart($0) }
    defer { wipe(&payload) }
    return value(of: payload, read)
  }

  private static func value<Value>(of payload: [UInt8], _ read: (JSONNode) -> Value?) -> Value? {
    (try? JSONDocument(parsing: payload, limits: limits)).flatMap { read($0.root) }
  }

  /// Looks into the token for when it was issued and when it ends, both by its server's clock.
  ///
  /// - Parameter token: any token, of any age.
  /// - Returns: what it says; nil for what is no JWT, or says no end.
  package static func span(of token: Secret) -> (issuedAt: Timestamp?, end: Timestamp)? {
    claims(of: token) { claims in
      claims["exp"].flatMap(NumericDate.moment).map { (claims["iat"].flatMap(NumericDate.moment), $0) }
    }
  }

  /// The bytes of the middle one of three parts; none where there are not three, or it is not base64.
  private static func middlePart(_ token: Span<UInt8>) -> [UInt8] {
    let dots = token.indices.filter { token[$0] == UInt8(ascii: ".") }
    guard dots.count == 2, dots[1] - dots[0] > 1, dots[1] - dots[0] <= longestPayload else { return [] }
    return Base64.decodeAnyForm(token.extracting((dots[0] + 1)..<dots[1])) ?? []
  }
}
