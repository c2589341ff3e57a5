package import ConfigurationFile

/// How the embedded provider behaves.
package struct LocalProviderConfiguration: Sendable, Equatable {
  /// How long an access token lives; short, since its holder needs nothing else.
  package var accessTokenLifetime: Duration
  /// How long after a login its refresh tokens live; rotation does not move that end.
  package var refreshTokenLifetime: Duration
  /// Its one-time codes.
  package var otp: OTPConfiguration
  /// How its messages reach people.
  package var delivery: DeliveryConfiguration

  /// A second is enough to show a refresh; more than a day cannot be revoked for too long (RFC 9700, section 2.2).
  private static let accessTokenSetting = DurationSetting("accessTokenLifetimeSeconds", 1...86400, standard: 900)

  /// Thirty days by default, a year at most.
  private static let refreshTokenSetting = DurationSetting(
    "refreshTokenLifetimeSeconds", 1...31_536_000, standard: 2_592_000)

  /// The defaults.
  package init() {
    accessTokenLifetime = .seconds(Self.accessTokenSetting.standard)
    refreshTokenLifetime = .seconds(Self.refreshTokenSetting.standard)
    otp = OTPConfiguration()
    delivery = DeliveryConfiguration()
  }

  /// Reads the section, with the default of each setting that is absent.
  package init(_ section: inout ConfigurationSection) {
    accessTokenLifetime = section.read(Self.accessTokenSetting)
    refreshTokenLifetime = section.read(Self.refreshTokenSetting)
    var otpSection = section.section("otp")
    otp = OTPConfiguration(&otpSection)
    var deliverySection = section.section("delivery")
    delivery = DeliveryConfiguration(&deliverySection)
    section.finish()
  }
}
