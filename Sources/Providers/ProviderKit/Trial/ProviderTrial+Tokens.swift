import BrokerCore
import BrokerProtocol
import JOSE

/// Findings about the tokens themselves.
extension ProviderTrial {
  /// The shortest lifetime without a warning: a token that lives shorter is refreshed all the time, as the standard
  /// margin before its expiry is 30 s.
  private static let shortestLifetime = Duration.seconds(60)
  /// The longest lifetime without a warning: a token that lives longer is worth stealing, and no revocation reaches one
  /// that is only verified by its signature.
  private static let longestLifetime = Duration.seconds(86_400)

  /// Checks the tokens of a new session.
  mutating func tokenFindings(at now: Timestamp) -> [ProviderFinding] {
    guard let tokens else { return [] }
    passed.insert(.token)
    return [lifetime(tokens, now)] + [claims(tokens), scopes(tokens), refreshToken(tokens)].compactMap(\.self)
  }

  private func lifetime(_ tokens: TokenSet, _ now: Timestamp) -> ProviderFinding {
    let check = "token.lifetime"
    guard let end = tokens.accessTokenExpiresAt else {
      return ProviderFinding(
        check, .warning, "The provider does not say when the access token expires.",
        advice: "It is refreshed only after a server rejects it; add expires_in to the reply.")
    }
    let left = end - now
    // A part of the last second has passed on the way.
    let seconds = (left.milliseconds + 999) / 1000
    guard left > .zero else {
      return ProviderFinding(
        check, .failure, "The access token expired \(-seconds) s before it was issued.",
        advice: "Compare the clocks, and the unit of the lifetime.")
    }
    guard left >= Self.shortestLifetime else {
      return ProviderFinding(
        check, .warning, "The access token expires in \(seconds) s.",
        advice: "It is refreshed for nearly every call; 5 to 60 minutes are usual.")
    }
    guard left <= Self.longestLifetime else {
      return ProviderFinding(
        check, .warning, "The access token expires in \(seconds / 3600) hours.",
        advice: "Anyone who obtains it can use it until then; 5 to 60 minutes are usual.")
    }
    return ProviderFinding(check, .ok, "the access token expires in \(seconds) s")
  }

  /// A token that says its own end says the same as the reply does.
  private func claims(_ tokens: TokenSet) -> ProviderFinding? {
    let check = "token.claims"
    guard let expiry = UnverifiedToken.claims(of: tokens.accessToken.value, { .some($0.moment("exp")) }) else {
      return ProviderFinding(check, .note, "The access token is not a JWT: its claims cannot be read.")
    }
    guard let own = expiry, let told = tokens.accessTokenExpiresAt else { return nil }
    // The claim is the provider's clock, the reply's end is this machine's.
    let difference = own - (told + (tokens.clockSkew ?? .zero))
    let seconds = difference.milliseconds / 1000
    guard seconds.magnitude * 1000 > ProviderReport.clockTolerance.milliseconds.magnitude else {
      return ProviderFinding(check, .ok, "the access token is a JWT with the same expiry")
    }
    let which = seconds < 0 ? "earlier" : "later"
    return ProviderFinding(
      check, .warning, "The access token's expiry (exp) is \(seconds.magnitude) s \(which) than the reply says.",
      advice: "Compare expires_in with the token's lifetime, and the clocks.")
  }

  private func scopes(_ tokens: TokenSet) -> ProviderFinding? {
    let check = "token.scopes"
    guard !tokens.scopes.isEmpty else { return nil }
    let missing = subject.requestedScopes.filter { !tokens.scopes.contains($0) }
    guard missing.isEmpty else {
      return ProviderFinding(
        check, .note, "Not granted: \(missing.prefix(8).joined(separator: ", ")).",
        advice: "Allow them for the client, or remove them from scopes.")
    }
    return ProviderFinding(check, .ok, "all requested scopes were granted")
  }

  private func refreshToken(_ tokens: TokenSet) -> ProviderFinding? {
    let check = "token.refreshToken"
    guard tokens.refreshToken == nil else {
      guard let end = tokens.refreshTokenExpiresAt else { return nil }
      return ProviderFinding(check, .ok, "the refresh token expires at \(end)")
    }
    guard credentials.method != .clientCredentials else {
      return ProviderFinding(check, .note, "There is no refresh token: the client logs in again instead.")
    }
    return ProviderFinding(
      check, .warning, "There is no refresh token: the session ends when its access token expires.",
      advice: "Request one (often the scope offline_access), and allow it for the client.")
  }

  /// Compares what the provider does with refresh tokens with what the profile says.
  mutating func rotationFindings() -> [ProviderFinding] {
    let rules = subject.rules
    let check = TrialStage.rotation.rawValue
    passed.insert(.rotation)
    if rotates, rules.rotation == .never {
      return [
        ProviderFinding(
          check, .failure,
          "Refresh tokens rotate, and rotation is \"never\": after a lost reply a spent one is sent again.",
          advice: "In the profile's section write: rotation: \"always\"")
      ]
    }
    var findings: [ProviderFinding] = []
    if !rotates, rules.rotation == .always {
      findings.append(
        ProviderFinding(
          check, .warning, "Refresh tokens do not rotate, and rotation is \"always\".",
          advice: "In the profile's section write: rotation: \"never\" (a lost reply then costs nothing)"))
    }
    if !rotates, rules.rotationGrace > .zero {
      findings.append(
        ProviderFinding(
          check, .warning, "rotationGraceSeconds is set, and refresh tokens do not rotate.",
          advice: "Remove it from the profile's section."))
    }
    guard findings.isEmpty else { return findings }
    let what = rotates ? "each refresh returns another refresh token" : "the refresh token stays the same"
    let value = rotates ? "always" : "never"
    let isKnown = rules.rotation != .auto
    return [
      ProviderFinding(
        check, .ok, what + (isKnown ? ", as rotation says" : "; the broker learns that from the first refresh"),
        advice: isKnown ? nil : "To set it from the start, write: rotation: \"\(value)\"")
    ]
  }
}
