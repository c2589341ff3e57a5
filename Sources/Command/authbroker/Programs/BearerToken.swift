import BrokerProtocol
import JSON

/// Common parts of all ways to hand a token to a program that can only bear it (RFC 6750).
enum BearerToken {
  /// The same of the broker's answer, taken apart.
  static func check(_ answer: JSONNode) throws(CommandFailure) {
    let profile = try? answer.optional("profile", ProfileName.init(from:))
    try check(try? answer["tokenType"]?.string(), of: profile)
  }

  /// Refuses a token that is bound to a key (RFC 9449): no server takes it from a program without that key.
  ///
  /// - Parameters:
  ///   - type: the type of the token, as the broker's answer names it; nil: a bearer token.
  ///   - profile: whose token it is, where that is known.
  /// - Throws: a failure with code 6 for any other type than `Bearer`, in any case (RFC 6749, section 5.1).
  static func check(_ type: String?, of profile: ProfileName?) throws(CommandFailure) {
    guard let type, type.lowercased() != "bearer" else { return }
    let whose = profile.map { " of \($0)" } ?? ""
    throw CommandFailure(
      .accessDenied,
      "the access token\(whose) has the type \(type.shellQuoted): it is bound to a key, and other tools can only send "
        + "bearer tokens; let the provider issue bearer tokens to this client",
      next: NextCommand("or see the whole answer with", "token", "--json").on(profile))
  }
}
