package import BrokerProtocol
import JSON
package import SecretMemory

/// A token read as a JWT (RFC 7519) without a check of its signature: what it says is a hint, no proof.
///
/// The token is its server's to understand; a broker that knows no lifetime otherwise looks for `exp` in it.
package enum UnverifiedToken {
  /// Longer payloads are not looked into: a token in a header field has a few KiB.
  private static let longestPayload = JSONNode.tokenByteLimit
  /// Foreign input: no claim of use is nested deeper, and a number may be of any size.
  private static let limits = JSONLimits(depth: 64, byteCount: longestPayload, toleratesLargeNumbers: true)

  /// Looks into the token for when it ends.
  ///
  /// `exp` and `iat` are moments of the server's clock. Where the reply does not say how far that is off, `iat` may: a
  /// token that is issued in the future tells that the clock is ahead, and one that would be over when it comes, that it
  /// is behind, since no provider issues a token that has expired. Its lifetime from `iat` to `exp` then counts from when the
  /// request was sent.
  ///
  /// - Parameters:
  ///   - token: any token.
  ///   - moments: when it came.
  /// - Returns: the moment by this machine's clock; nil for what is no JWT, or says no believable end.
  package static func end(of token: Secret, _ moments: ReplyMoments) -> Timestamp? {
    var payload = token.withBytes { Self.middlePart($0) }
    defer { wipe(&payload) }
    return end(in: payload, moments)
  }

  /// Looks into the token for when it was issued and when it ends, both by its server's clock.
  ///
  /// - Parameter token: any token, of any age.
  /// - Returns: what it says; nil for what is no JWT, or says no end.
  static func span(of token: Secret) -> (issuedAt: Timestamp?, end: Timestamp)? {
    var payload = token.withBytes { Self.middlePart($0) }
    defer { wipe(&payload) }
    return span(in: payload)
  }

  /// Looks into the claims; when it returns, nothing refers to their bytes any more.
  private static func span(in payload: [UInt8]) -> (issuedAt: Timestamp?, end: Timestamp)? {
    guard let claims = (try? JSONDocument(parsing: payload, limits: limits))?.root,
      let end = claims["exp"].flatMap(TokenLifetime.moment)
    else { return nil }
    return (claims["iat"].flatMap(TokenLifetime.moment), end)
  }

  /// Looks into the claims; when it returns, nothing refers to their bytes any more.
  private static func end(in payload: [UInt8], _ moments: ReplyMoments) -> Timestamp? {
    guard let claims = (try? JSONDocument(parsing: payload, limits: limits))?.root, let exp = claims["exp"],
      let end = TokenLifetime.moment(exp)
    else { return nil }
    let issued = claims["iat"].flatMap(TokenLifetime.moment)
    let here = moments.here(end)
    if let issued, moments.here(issued) > moments.receivedAt + ReplyMoments.clockTolerance || here <= moments.sentAt {
      return TokenLifetime.believableEnd(moments.sentAt + (end - issued), moments)
    }
    return TokenLifetime.believableEnd(here, moments)
  }

  /// The bytes of the middle one of three parts; none where there are not three, or it is not base64url.
  private static func middlePart(_ token: Span<UInt8>) -> [UInt8] {
    let dots = token.indices.filter { token[$0] == UInt8(ascii: ".") }
    guard dots.count == 2, dots[1] - dots[0] > 1, dots[1] - dots[0] <= longestPayload else { return [] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity((dots[1] - dots[0]) / 4 * 3 + 3)
    var bits: UInt32 = 0
    var count = 0
    for index in (dots[0] + 1)..<dots[1] {
      guard let value = value(token[index]) else {
        wipe(&bytes)
        return []
      }
      bits = bits << 6 | value
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return bytes
  }

  /// The six bits of a character (RFC 4648, section 5).
  private static func value(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
