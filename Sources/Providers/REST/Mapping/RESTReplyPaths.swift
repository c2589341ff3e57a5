import ProviderKit

/// The places of all members of a reply: for each the paths that are tried, in order.
package struct RESTReplyPaths: Sendable, Equatable {
  /// A member of a reply; the names are those of the configuration.
  package enum Member: String, Sendable, CaseIterable {
    // The tokens (RFC 6749, section 5.1).
    case accessToken, refreshToken, expiresIn, expiresAt, refreshExpiresIn, refreshExpiresAt, scope
    // The account; all but `user` are looked for inside of that object.
    case user, userId, email, emailVerified, name, phoneNumber
    // A challenge for a one-time code.
    case requires2FA, otpFlowId, maskedDestination, otpLength, otpMethod, otpExpiresIn, nextResendAt
    case attemptsRemaining, backupCodesAllowed, backupCodesRemaining
    // An account that waits for its address to be verified.
    case emailVerificationRequired
  }

  private var paths: [Member: [RESTPath]] = [:]

  /// The standard paths: three shapes of tokens, one of everything else.
  init() {
    let texts: [Member: [String]] = [
      .accessToken: ["tokens.access", "accessToken.token", "access_token", "accessToken"],
      .refreshToken: ["tokens.refresh", "refreshToken.token", "refresh_token", "refreshToken"],
      .expiresIn: ["tokens.expiresIn", "accessToken.expiresIn", "expires_in", "expiresIn"],
      .expiresAt: ["tokens.expiresAt", "accessToken.expiresAt", "expires_at", "expiresAt"],
      .refreshExpiresIn: ["refresh_expires_in", "refreshExpiresIn"],
      .refreshExpiresAt: ["refreshToken.expiresAt", "refresh_expires_at", "refreshExpiresAt"],
      .scope: ["tokens.scope", "accessToken.scopes", "scope"],
      .maskedDestination: ["maskedDestination", "maskedPhone", "maskedEmail"],
      .otpMethod: ["otpMethod", "method"],
      .otpExpiresIn: ["otpExpiresIn", "expiresInSeconds"],
      .nextResendAt: ["nextResendAt", "nextAllowedAt"],
      .userId: ["id", "userId"],
    ]
    for member in Member.allCases { paths[member] = (texts[member] ?? [member.rawValue]).map { RESTPath($0) } }
  }

  /// The paths of a member, in the order in which they are tried.
  package subscript(_ member: Member) -> [RESTPath] {
    get { paths[member] ?? [] }
    set { paths[member] = newValue }
  }

  /// The cookie that the refresh token lives in; nil where it stands in replies.
  var refreshCookie: String? { self[.refreshToken].compactMap(\.cookie).first }

  /// The members that a session depends on.
  var vital: VitalMembers {
    func names(_ member: Member) -> [[String]] { self[member].map(\.names).filter { !$0.isEmpty } }
    return VitalMembers(
      names(.expiresIn) + names(.expiresAt) + ["token_type", "tokenType", "error"].map { [$0] },
      accessToken: names(.accessToken), refreshToken: names(.refreshToken))
  }
}
