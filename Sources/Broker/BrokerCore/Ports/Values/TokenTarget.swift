package import BrokerProtocol

/// The scopes, the audience, or both, of a token other than the session's own.
///
/// Equal targets share one token and one request to the provider, in whatever order their scopes were named.
package struct TokenTarget: Sendable, Hashable {
  /// The scopes (RFC 6749, section 3.3), sorted, none twice; empty means as the session's.
  package let scopes: [String]
  /// The audience (RFC 8707, section 2), by the provider's own name; nil for the session's.
  package let audience: String?

  /// A token has few scopes: as many are asked for as are read from a provider's reply.
  package static let mostScopes = 128
  /// A scope is a short word, or an address: as long as is read from a provider's reply.
  package static let longestScope = 256
  /// An audience is an address (RFC 8707, section 2): no server takes longer ones than this.
  package static let longestAudience = 2048

  /// A target; one without scopes or audience is the session's own token.
  package init(scopes: [String] = [], audience: String? = nil) {
    self.scopes = Set(scopes).sorted()
    self.audience = audience
  }

  /// The target of a client's request; nil where it names neither scopes nor an audience.
  ///
  /// - Throws: `invalidParams` with the pointer of what is too long, too many, or can be no scope and no audience.
  init?(scopes: [String]?, audience: String?) throws(BrokerError) {
    let scopes = try Self.scopes(scopes)
    if scopes.isEmpty, audience == nil { return nil }
    if let audience, !Self.isAudience(audience) {
      throw BrokerError(
        .invalidParams,
        "The parameter /audience must be 1 to \(Self.longestAudience) bytes without control characters.",
        pointer: "/audience")
    }
    self.init(scopes: scopes, audience: audience)
  }

  /// The scopes that a request names; none where it says nothing.
  ///
  /// - Throws: `invalidParams` with the pointer of what is too many, too long, or no scope.
  package static func scopes(_ wanted: [String]?) throws(BrokerError) -> [String] {
    let scopes = wanted ?? []
    guard scopes.count <= mostScopes else {
      throw BrokerError(
        .invalidParams, "The parameter /scopes must have at most \(mostScopes) entries.", pointer: "/scopes")
    }
    for (index, scope) in scopes.enumerated() where !isScope(scope) {
      throw BrokerError(
        .invalidParams,
        "The parameter /scopes/\(index) must be a scope: visible characters without quotes and backslashes.",
        pointer: "/scopes/\(index)")
    }
    guard scopes.reduce(scopes.count, { $0 + $1.utf8.count }) <= ParameterLength.scopes + 1 else {
      throw BrokerError(
        .invalidParams, "The parameter /scopes must have at most \(ParameterLength.scopes) bytes, joined by spaces.",
        pointer: "/scopes")
    }
    return scopes
  }

  /// Whether a token for these scopes, and no audience of its own, is one for this target.
  func isCovered(by scopes: [String]) -> Bool { audience == nil && self.scopes.allSatisfy(scopes.contains) }

  /// One word of the letters that RFC 6749, section 3.3, allows: nothing can end the field that it is sent in.
  private static func isScope(_ word: String) -> Bool {
    (1...longestScope).contains(word.utf8.count)
      && word.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  /// Whether a text can name an audience.
  package static func isAudience(_ text: String) -> Bool {
    (1...longestAudience).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
