import BrokerProtocol
import JSON

/// Common parts of all ways to hand a token to a program that has no key of its own.
enum BearerToken {
  /// The ways in which a program can send a token.
  enum Carrier: Sendable {
    /// Any that it is told, or its user's own: the token is printed.
    case any
    /// As the password of basic authentication (RFC 7617), whatever the token's own field is.
    case password
    /// In the field `Authorization`, with any scheme.
    case authorization
    /// As a bearer token alone (RFC 6750).
    case bearer
  }

  /// The same of the broker's answer, taken apart.
  static func check(_ answer: JSONNode, for carrier: Carrier = .any) throws(CommandFailure) {
    let profile = try? answer.optional("profile", ProfileName.init(from:))
    try check(try? answer["header"]?.string(), try? answer["tokenType"]?.string(), of: profile, for: carrier)
  }

  /// Refuses a token that a program cannot send.
  ///
  /// - Parameters:
  ///   - token: the token.
  ///   - carrier: the way in which it can send one.
  /// - Throws: a failure with code 6 for one that is bound to a key, or whose field or scheme is another one.
  static func check(_ token: AccessToken, for carrier: Carrier = .any) throws(CommandFailure) {
    try check(token.header, token.tokenType, of: token.profile, for: carrier)
  }

  private static func check(
    _ header: String?, _ type: String?, of profile: ProfileName?, for carrier: Carrier
  ) throws(CommandFailure) {
    guard let header else { return try check(type, of: profile) }
    let type = type ?? ""
    let isStandard = header.lowercased() == AuthorizationValue.standardField.lowercased()
    let canSend =
      switch carrier {
      case .any, .password: true
      case .authorization: isStandard
      case .bearer: isStandard && isBearer(type)
      }
    guard !canSend else { return }
    let form = isStandard ? "Authorization: \(type)" : header
    throw CommandFailure(
      .accessDenied,
      "the secret\(profile.map { " of \($0)" } ?? "") is sent in the header \(form.shellQuoted), which this tool cannot do; give the target "
        + "the scheme Basic where its server takes the secret as a password",
      next: NextCommand("or see the header with", "header").on(profile))
  }

  /// Refuses a token that is bound to a key (RFC 9449): no server takes it from a program without that key.
  ///
  /// - Parameters:
  ///   - type: the type of the token, as the broker's answer names it; nil: a bearer token.
  ///   - profile: whose token it is, where that is known.
  /// - Throws: a failure with code 6 for any other type than `Bearer`, in any case (RFC 6749, section 5.1).
  private static func check(_ type: String?, of profile: ProfileName?) throws(CommandFailure) {
    guard let type, !isBearer(type) else { return }
    let whose = profile.map { " of \($0)" } ?? ""
    throw CommandFailure(
      .accessDenied,
      "the access token\(whose) has the type \(type.shellQuoted): it is bound to a key, and other tools can only send "
        + "bearer tokens; let the provider issue bearer tokens to this client",
      next: NextCommand("or see the whole answer with", "token", "--json").on(profile))
  }

  private static func isBearer(_ type: String) -> Bool { type.lowercased() == "bearer" }
}
