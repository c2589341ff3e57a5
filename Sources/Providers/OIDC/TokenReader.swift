import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit
import SecretMemory

/// Reads the object that a token endpoint answers with (RFC 6749, section 5.1).
///
/// A reply is foreign input: whatever is in it, reading it gives a value or nothing, and never traps.
struct TokenReader {
  /// The reply's object.
  let root: JSONNode
  /// The provider's deviations.
  let quirks: OIDCQuirks
  /// When it came.
  let moments: ReplyMoments
  /// Whether a token that is good for no server but as a subject is taken (RFC 8693, section 2.2.1).
  var takesSubjects = false
  /// Whether the token must be bound to the session's key: one that is not was not asked for (RFC 9449, section 5).
  var isBound = false

  /// A scope is a short word, and a token has few of them (RFC 6749, section 3.3).
  private static let longestScope = 256
  private static let mostScopes = 128

  /// The value in the place of a token.
  private enum Found {
    case token(Secret)
    case nothing
    case malformed
  }

  /// The outcome of reading a reply.
  enum Reading {
    /// Tokens that can be used.
    case tokens(TokenSet)
    /// A refresh token, beside an access token that cannot be used.
    case rotated(RotatedToken)
    /// Nothing; the reply's own words may be worth reporting.
    case nothing(ProviderRejection)
  }

  /// The tokens of the reply.
  ///
  /// Only the access token must be there; it must be able to stand in a header field (RFC 6750, section 2.1). A refresh
  /// token that is there must be one (RFC 6749, appendix A.17), else it is unknown what else is wrong.
  ///
  /// - Parameter asked: the scopes that hold where the provider names none, which means: all that were asked for.
  /// - Returns: nil for a reply without usable tokens.
  /// - Throws: `SecretMemoryExhausted` where there is no room for them: the reply is as good as before.
  func reading(asked: [String] = []) throws(SecretMemoryExhausted) -> Reading? {
    let found = try token("access_token", allowed: 0x21...0x7E)
    var refreshToken: Secret?
    switch try token("refresh_token", allowed: 0x20...0x7E) {
    case .token(let token): refreshToken = token
    case .nothing: break
    case .malformed: return nil
    }
    let isSubject = takesSubjects && isOfNoType
    guard case .token(let accessToken) = found, hasWantedType || isSubject, !ReplyObject.isUnsound(root["expires_in"])
    else {
      let rejection = ProviderRejection(.invalidResponse, said: foreignType)
      if let refreshToken {
        return .rotated(
          RotatedToken(refreshToken: refreshToken, expiresAt: refreshTokenExpiry, rejection: rejection))
      }
      return rejection.said == nil ? nil : .nothing(rejection)
    }
    var idToken: Secret?
    if case .token(let token) = try token("id_token", allowed: 0x21...0x7E) { idToken = token }
    var tokens = TokenSet(
      accessToken: accessToken,
      accessTokenExpiresAt: TokenLifetime.accessTokenExpiry(
        of: accessToken, expiresIn: root["expires_in"], expiresAt: saidExpiry, moments),
      refreshToken: refreshToken, refreshTokenExpiresAt: refreshToken == nil ? nil : refreshTokenExpiry,
      scopes: scopes ?? asked, idToken: idToken, clockSkew: moments.clockSkew)
    if isSubject { tokens.accessToken = BoundToken(accessToken, .subject) }
    return .tokens(tokens)
  }

  /// When the access token expires, by the names that providers have for it (Microsoft: `expires_on`).
  private var saidExpiry: JSONNode? {
    ["expires_at", "expires_on", "expires", "expiresAt"].lazy.compactMap { root[$0] }.first
  }

  /// When the refresh token expires, by Keycloak's name of it and by GitHub's.
  ///
  /// Implausible lifetimes count as unknown: an assumed one would end the session. Keycloak sends 0 for "never".
  private var refreshTokenExpiry: Timestamp? {
    TokenLifetime.refreshTokenExpiry(
      expiresIn: root["refresh_expires_in"] ?? root["refresh_token_expires_in"], moments)
  }

  private func token(_ name: String, allowed: ClosedRange<UInt8>) throws(SecretMemoryExhausted) -> Found {
    guard let node = root[name], !node.saysNone else { return .nothing }
    let found = name == "refresh_token" ? try node.foundRefreshToken() : try node.foundSecret()
    guard let token = found else { return .malformed }
    let isClean = token.withBytes { bytes in bytes.indices.allSatisfy { allowed.contains(bytes[$0]) } }
    return isClean ? .token(token) : .malformed
  }

  /// Whether the token is one for the header field that will be used.
  private var hasWantedType: Bool {
    isBound ? typeName?.lowercased() == "dpop" : root["token_type"]?.isOtherThanBearer != true
  }

  private var typeName: String? { root["token_type"].flatMap { try? $0.string() } }

  /// Whether the token is of no type at all: one that no server takes.
  private var isOfNoType: Bool { typeName?.lowercased() == "n_a" }

  /// The provider's name for a token type that does not fit that header field.
  private var foreignType: ProviderRejection.Said? {
    guard !hasWantedType else { return nil }
    let word = typeName.flatMap { ProviderWord($0) }
    return isBound ? .unbound(word) : word.map { .tokenType($0) }
  }

  /// The words of the member `scope`, without those that can be no scope; nil where there is no such member.
  private var scopes: [String]? {
    guard let text = root["scope"].flatMap({ try? $0.string() }) else { return nil }
    let words = text.split { $0 == " " || (quirks.separatesScopesByComma && $0 == ",") }
    return Array(words.lazy.map(String.init).filter(Self.isScope).prefix(Self.mostScopes))
  }

  private static func isScope(_ word: String) -> Bool {
    word.utf8.count <= longestScope
      && word.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }
}
