package import BrokerProtocol
import JSON
package import SecretMemory

/// What an access token says of itself, where it is a JWT (RFC 9068).
///
/// It is for the server that it is shown to, so nothing hangs on it here but a finding. Its signature is not examined.
package struct AccessTokenClaims: Sendable, Equatable {
  /// When the token ends.
  package let expiresAt: Timestamp?

  /// Longer payloads are not looked into: an access token has a few KiB.
  private static let longestPayload = JSONNode.tokenByteLimit

  /// Reads a token; nil for what is no JWT.
  package init?(_ token: Secret) {
    guard var payload = token.withBytes(Self.payload) else { return nil }
    defer { wipe(&payload) }
    guard let claims = (try? JSONDocument(parsing: payload))?.root, claims.kind == .object else { return nil }
    let end = claims["exp"].flatMap { try? $0.number() }
    expiresAt = end.flatMap { Int64(exactly: ($0 * 1000).rounded()) }.map { Timestamp(milliseconds: $0) }
  }

  /// The second of three parts, decoded.
  private static func payload(_ token: Span<UInt8>) -> [UInt8]? {
    let dots = token.indices.filter { token[$0] == UInt8(ascii: ".") }
    guard dots.count == 2, dots[1] - dots[0] <= longestPayload else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(dots[1] - dots[0])
    var (bits, count): (UInt32, Int) = (0, 0)
    for index in (dots[0] + 1)..<dots[1] {
      guard let value = value(of: token[index]) else {
        wipe(&bytes)
        return nil
      }
      bits = bits << 6 | value
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return bytes
  }

  /// Of a character of the alphabet for URLs (RFC 4648, section 5).
  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
