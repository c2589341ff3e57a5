import BrokerCore
import BrokerProtocol
import HTTP
import JSON
import ProviderKit
import SecretMemory

/// The tokens of a reply.
extension ReplyReader {
  /// A scope is a short word, and a token has few of them (RFC 6749, section 3.3).
  private static let longestScope = 256
  private static let mostScopes = 128

  /// The value in the place of a token.
  private enum Found {
    case token(Secret)
    case nothing
    case malformed

    var token: Secret? { if case .token(let token) = self { token } else { nil } }
  }

  /// The outcome of reading a reply.
  enum Reading {
    /// Tokens that can be used.
    case tokens(TokenSet)
    /// Tokens that are no session.
    case flawed(FlawedTokens)
  }

  /// Tokens without an access token that can be used.
  struct FlawedTokens {
    /// The access token of a type that cannot be used, or that nothing is known of.
    var accessToken: Secret?
    /// The refresh token, if that is one.
    var rotated: RotatedToken?
    /// The flaw.
    var rejection: ProviderRejection
  }

  /// The tokens of the reply.
  ///
  /// Only the access token must be there; it must be able to stand in a header field (RFC 6750, section 2.1). A refresh
  /// token must have the form of one (RFC 6749, appendix A.17), else the whole reply is in doubt.
  func reading() throws(SecretMemoryExhausted) -> Reading? {
    let accessToken = try token(in: values(.accessToken), allowed: 0x21...0x7E).token
    let found = try foundRefreshToken()
    let refreshToken = found.token
    var isSound = !ReplyObject.isUnsound(said(.expiresIn)) && !ReplyObject.isUnsound(said(.expiresAt))
    if case .malformed = found { isSound = false }
    guard let accessToken, hasBearerType, isSound else {
      guard accessToken != nil || refreshToken != nil else { return nil }
      let rejection = ProviderRejection(.invalidResponse, said: foreignType)
      let rotated = refreshToken.map {
        RotatedToken(refreshToken: $0, expiresAt: refreshTokenExpiry(), rejection: rejection)
      }
      return .flawed(FlawedTokens(accessToken: accessToken, rotated: rotated, rejection: rejection))
    }
    return .tokens(
      TokenSet(
        accessToken: accessToken, accessTokenExpiresAt: accessTokenExpiry(accessToken), refreshToken: refreshToken,
        refreshTokenExpiresAt: refreshToken == nil ? nil : refreshTokenExpiry(), scopes: scopes(),
        clockSkew: moments.clockSkew))
  }

  /// The tokens of a reply to a login, which is worth nothing without an access token.
  ///
  /// - Throws: as ``reading()``.
  func tokens() throws(SecretMemoryExhausted) -> TokenSet? {
    guard case .tokens(let tokens) = try reading() else { return nil }
    return tokens
  }

  private func accessTokenExpiry(_ token: Secret) -> Timestamp? {
    TokenLifetime.accessTokenExpiry(of: token, expiresIn: said(.expiresIn), expiresAt: said(.expiresAt), moments)
  }

  private func refreshTokenExpiry() -> Timestamp? {
    TokenLifetime.refreshTokenExpiry(expiresIn: value(.refreshExpiresIn), expiresAt: value(.refreshExpiresAt), moments)
  }

  /// Whether there is anything that may be meant as an access token, usable or not.
  var mentionsAccessToken: Bool { !values(.accessToken).isEmpty }

  /// The refresh token at the first of its paths that has one, be it a member or a cookie.
  private func foundRefreshToken() throws(SecretMemoryExhausted) -> Found {
    for path in paths[.refreshToken] {
      if let name = path.cookie {
        if let token = try response?.cookie(name) { return .token(token) }
        continue
      }
      let values = Self.values(at: [path], in: root)
      if let number = values.first, number.kind == .integer, !number.saysNone {
        return try number.foundRefreshToken().map { .token($0) } ?? .malformed
      }
      let found = try token(in: values, allowed: 0x20...0x7E)
      if case .nothing = found { continue }
      return found
    }
    return .nothing
  }

  /// The first string of some values.
  ///
  /// An object is the container of another shape of reply, not a malformed token.
  private func token(
    in values: [JSONNode], allowed: ClosedRange<UInt8>
  ) throws(SecretMemoryExhausted) -> Found {
    let candidates = values.filter { $0.kind != .object && !$0.saysNone }
    guard let node = candidates.first(where: { $0.kind == .string || $0.kind == .escapedString }) else {
      return candidates.isEmpty ? .nothing : .malformed
    }
    guard let token = try node.foundSecret() else { return .malformed }
    let isClean = token.withBytes { bytes in bytes.indices.allSatisfy { allowed.contains(bytes[$0]) } }
    return isClean ? .token(token) : .malformed
  }

  /// Whether the token is one for the header field that will be used.
  private var hasBearerType: Bool {
    Self.values(at: [Self.snakeType, Self.camelType], in: root).first?.isOtherThanBearer != true
  }

  /// The backend's name for a token type that does not fit that header field.
  private var foreignType: ProviderRejection.Said? {
    guard !hasBearerType, let type = Self.values(at: [Self.snakeType, Self.camelType], in: root).first else {
      return nil
    }
    return (try? type.string()).flatMap { ProviderWord($0) }.map { .tokenType($0) }
  }

  private static let snakeType = RESTPath(name: "token_type")
  private static let camelType = RESTPath(name: "tokenType")

  /// The first value present; an explicit `null` counts as present.
  private func said(_ member: RESTReplyPaths.Member) -> JSONNode? {
    for path in paths[member] where path.cookie == nil {
      var node: JSONNode? = root
      for name in path.names { node = node?[name] }
      if let node { return node }
    }
    return nil
  }

  /// The words of a string, or the strings of a list; what can be no scope is left out.
  private func scopes() -> [String] {
    guard let node = value(.scope) else { return [] }
    let words: [String]
    if let text = try? node.string() {
      words = text.split(separator: " ").map(String.init)
    } else {
      words = ((try? node.elements()) ?? []).compactMap { try? $0.string() }
    }
    return Array(words.filter(Self.isScope).prefix(Self.mostScopes))
  }

  private static func isScope(_ word: String) -> Bool {
    !word.isEmpty && word.utf8.count <= longestScope
      && word.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }
}
