import BrokerCore
import BrokerProtocol
import JSON
import Sealing
import SecretMemory
import TextCoding

/// Reads an ID token that came straight from the token endpoint.
///
/// The connection that it came over is one that the provider's certificate vouches for: then its signature need not be
/// checked (OpenID Connect Core, section 3.1.3.7, item 6). Everything else is.
struct IDToken {
  /// How the provider is spoken to.
  let dialect: OIDCDialect
  /// Who the token must be for.
  let clientID: String

  /// What a token says.
  struct Claims: Equatable {
    /// Whose it is.
    var user: User
    /// When the user proved who they are, by the provider's clock; nil where that is not said.
    var authTime: Timestamp?
  }

  /// How far the provider's clock may be off.
  static let tolerance = Duration.seconds(300)
  /// Longer parts are not looked into: no token is longer as a whole.
  private static let longestPart = JSONNode.tokenByteLimit

  /// A number that 64 bits cannot hold is of no claim that is read here.
  private static let limits = JSONLimits(depth: 64, byteCount: 1 << 20, toleratesLargeNumbers: true)

  /// Checks a token and reads whose it is.
  ///
  /// - Parameters:
  ///   - token: as the token endpoint gave it.
  ///   - nonce: the value that the login was begun with (OpenID Connect Core, section 3.1.2.1); nil where there was none.
  ///   - now: the provider's clock.
  /// - Returns: what it says, or what is wrong with it.
  func examined(_ token: Secret, nonce: String?, at now: Timestamp) -> Result<Claims, IDTokenFlaw> {
    guard var parts = token.withBytes(Self.parts) else { return .failure(.malformed) }
    defer {
      wipe(&parts.header)
      wipe(&parts.payload)
    }
    guard Self.isSigned(parts.header) else { return .failure(.unsigned) }
    return Result { () throws(IDTokenFlaw) in try claims(parts.payload, nonce, now) }
  }

  private static func isSigned(_ header: [UInt8]) -> Bool {
    let root = (try? JSONDocument(parsing: header, limits: limits))?.root
    guard let algorithm = root?["alg"].flatMap({ try? $0.string() }) else { return false }
    return !algorithm.isEmpty && algorithm.lowercased() != "none"
  }

  /// When it returns, nothing refers to the payload's bytes any more.
  private func claims(_ payload: [UInt8], _ nonce: String?, _ now: Timestamp) throws(IDTokenFlaw) -> Claims {
    guard let claims = (try? JSONDocument(parsing: payload, limits: Self.limits))?.root, claims.kind == .object else {
      throw .malformed
    }
    guard let issuer = text("iss", claims), IssuerCheck(dialect).isOwn(token: issuer, tenant: text("tid", claims))
    else {
      throw .issuer
    }
    guard isForUs(claims) else { throw .audience }
    guard claims["exp"] != nil else { throw .endless }
    guard isInTime(claims, now) else { throw .time }
    // The token came straight from the provider: how long the comparison takes tells no one anything.
    if let nonce, text("nonce", claims) != nonce { throw .nonce }
    guard let user = UserReader(quirks: dialect.quirks).user(claims) else { throw .subject }
    return Claims(user: user, authTime: moment("auth_time", claims))
  }

  /// `aud` names this client; where there is an `azp`, that does too (section 3.1.3.7, items 3 to 5; errata set 2 wants none
  /// where `aud` names others as well).
  private func isForUs(_ claims: JSONNode) -> Bool {
    guard let audience = claims["aud"] else { return false }
    let names = (try? audience.string()).map { [$0] } ?? ((try? audience.elements()) ?? []).map { try? $0.string() }
    guard names.contains(where: { $0 == clientID }) else { return false }
    guard let party = claims["azp"] else { return true }
    return (try? party.string()) == clientID
  }

  private func isInTime(_ claims: JSONNode, _ now: Timestamp) -> Bool {
    guard let end = moment("exp", claims), end + Self.tolerance > now else { return false }
    guard claims["nbf"] != nil else { return true }
    guard let begin = moment("nbf", claims) else { return false }
    return begin <= now + Self.tolerance
  }

  private func moment(_ name: String, _ claims: JSONNode) -> Timestamp? {
    guard let seconds = claims[name].flatMap(NumericDate.number) else { return nil }
    return Int64(exactly: (seconds * 1000).rounded()).map { Timestamp(milliseconds: $0) }
  }

  private func text(_ name: String, _ claims: JSONNode) -> String? {
    claims[name].flatMap { try? $0.string() }
  }

  /// The decoded first two of three parts; nil where there are not three, or they are not base64url.
  private static func parts(_ token: Span<UInt8>) -> (header: [UInt8], payload: [UInt8])? {
    let dots = token.indices.filter { token[$0] == UInt8(ascii: ".") }
    guard dots.count == 2, dots[0] <= longestPart, dots[1] - dots[0] <= longestPart,
      var header = Base64.decodeURLForm(token.extracting(0..<dots[0]))
    else { return nil }
    guard let payload = Base64.decodeURLForm(token.extracting((dots[0] + 1)..<dots[1])) else {
      wipe(&header)
      return nil
    }
    return (header, payload)
  }
}
