import BrokerCore
package import ConfigurationFile

/// The settings of the embedded provider.
package struct LocalProviderConfiguration: Sendable, Equatable {
  /// Whether an account logs in before its e-mail address is verified.
  package enum EmailVerification: String, Sendable, CaseIterable {
    /// It does, and a new account is sent nothing.
    case off
    /// It does not, and is sent a token.
    case required
  }

  /// The issuer of the tokens (`iss`).
  package var issuer: String
  /// The audience of a session's own tokens (`aud`).
  package var audience: String
  /// For which other services callers may have tokens.
  package var audiences: [String]
  /// How long an access token lives; short, since its holder needs nothing else.
  package var accessTokenLifetime: Duration
  /// How long after a login its refresh tokens live; rotation does not move that end.
  package var refreshTokenLifetime: Duration
  /// How long a refresh token lives that is not used.
  package var refreshTokenIdleLifetime: Duration
  /// Its one-time codes.
  package var otp: OTPConfiguration
  /// The settings for the delivery of messages.
  package var delivery: DeliveryConfiguration
  /// The wording of messages.
  package var wording: MessageWording
  /// How many messages it sends for one account.
  package var messageLimits: MessageLimits
  /// Whether an account logs in before its e-mail address is verified.
  package var emailVerification: EmailVerification

  /// The audience of a session's own tokens, and the others.
  var everyAudience: [String] { [audience] + audiences.filter { $0 != audience } }

  /// The default issuer.
  static let standardIssuer = "authbroker-local"

  /// The default audience: any service of the user's own programs on this machine.
  static let standardAudience = "authbroker"

  /// As many as a session keeps tokens for at a time.
  private static let mostAudiences = 64

  /// A second is enough to show a refresh; more than a day cannot be revoked for too long (RFC 9700, section 2.2).
  private static let accessTokenSetting = DurationSetting("accessTokenLifetimeSeconds", 1...86400, standard: 900)

  /// Thirty days by default, a year at most.
  private static let refreshTokenSetting = DurationSetting(
    "refreshTokenLifetimeSeconds", 1...31_536_000, standard: 2_592_000)

  /// The default: as long as a refresh token lives at all.
  private static let idleSetting = DurationSetting(
    "refreshTokenIdleLifetimeSeconds", 1...31_536_000, standard: refreshTokenSetting.standard)

  /// The longest lifetime of any access token, however it is configured.
  static let longestAccessTokenLifetime = Duration.seconds(accessTokenSetting.range.upperBound)

  /// Off: without a mail server the tokens lie in the outbox, and verify nothing.
  private static let verificationSetting = ChoiceSetting("emailVerification", standard: EmailVerification.off)

  /// The defaults.
  package init() {
    issuer = Self.standardIssuer
    audience = Self.standardAudience
    audiences = []
    accessTokenLifetime = .seconds(Self.accessTokenSetting.standard)
    refreshTokenLifetime = .seconds(Self.refreshTokenSetting.standard)
    refreshTokenIdleLifetime = .seconds(Self.idleSetting.standard)
    otp = OTPConfiguration()
    delivery = DeliveryConfiguration()
    wording = MessageWording()
    messageLimits = MessageLimits()
    emailVerification = Self.verificationSetting.standard
  }

  /// Reads the section, with the default of each setting that is absent.
  package init(_ section: inout ConfigurationSection) {
    issuer = section.word("issuer") ?? Self.standardIssuer
    audience = section.word("audience") ?? Self.standardAudience
    audiences = Self.audiences(&section)
    accessTokenLifetime = section.read(Self.accessTokenSetting)
    refreshTokenLifetime = section.read(Self.refreshTokenSetting)
    let idleLifetime = section.read(Self.idleSetting)
    refreshTokenIdleLifetime = section.has(Self.idleSetting.key) ? idleLifetime : refreshTokenLifetime
    var otpSection = section.section("otp")
    otp = OTPConfiguration(&otpSection)
    var deliverySection = section.section("delivery")
    delivery = DeliveryConfiguration(&deliverySection)
    var wordingSection = section.section("wording")
    wording = MessageWording(&wordingSection)
    messageLimits = MessageLimits(&section)
    emailVerification = section.read(Self.verificationSetting)
    section.finish()
  }

  /// The audiences that callers may name; each can be named in a request.
  private static func audiences(_ section: inout ConfigurationSection) -> [String] {
    guard let names = section.strings("audiences") else { return [] }
    if !(1...mostAudiences).contains(names.count) {
      section.report("audiences", "must name 1 to \(mostAudiences) audiences")
    }
    for (index, name) in names.enumerated() {
      if !TokenTarget.isAudience(name) {
        section.report(
          "audiences", element: index,
          "must have 1 to \(TokenTarget.longestAudience) bytes without control characters")
      } else if names[..<index].contains(name) {
        section.report("audiences", element: index, "names an audience twice", "remove one of them")
      }
    }
    return names
  }
}
