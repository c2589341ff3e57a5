package import ConfigurationFile

/// The embedded provider's one-time codes.
package struct OTPConfiguration: Sendable, Equatable {
  /// How many decimal digits a code has: 6 are what people can type from a message without a mistake.
  package var length: Int
  /// How long a code is good for.
  package var lifetime: Duration
  /// How many wrong codes end a challenge.
  package var maxAttempts: Int
  /// How long after one code the next may be asked for.
  package var resendCooldown: Duration

  /// Whether another code may go to the proven address where the last one went to the proven phone number, or the other way.
  package var offersOtherChannel: Bool
  /// The domain that codes by SMS are bound to, so that browsers fill them in there alone; nil for none.
  package var domain: DomainName?

  /// Six digits and five attempts let one guess in 200,000 succeed (RFC 4226, section 7.3); ten digits fit 64 bits.
  private static let lengthSetting = WholeNumberSetting("length", 4...10, standard: 6)
  /// Long enough to find the message, too short to guess; NIST SP 800-63B, section 5.1.3.2, allows ten minutes.
  private static let lifetimeSetting = DurationSetting("lifetimeSeconds", 1...3600, standard: 300)
  /// More than ten would make short codes guessable.
  private static let attemptsSetting = WholeNumberSetting("maxAttempts", 1...10, standard: 5)
  /// 0 is for tests.
  private static let cooldownSetting = DurationSetting("resendCooldownSeconds", 0...3600, standard: 30)

  /// The defaults.
  package init() {
    length = Self.lengthSetting.standard
    lifetime = .seconds(Self.lifetimeSetting.standard)
    maxAttempts = Self.attemptsSetting.standard
    resendCooldown = .seconds(Self.cooldownSetting.standard)
    offersOtherChannel = true
  }

  /// Reads the section, with the default of each setting that is absent.
  package init(_ section: inout ConfigurationSection) {
    length = section.read(Self.lengthSetting)
    lifetime = section.read(Self.lifetimeSetting)
    maxAttempts = section.read(Self.attemptsSetting)
    resendCooldown = section.read(Self.cooldownSetting)
    offersOtherChannel = section.flag("otherChannel", standard: true)
    domain = DomainName(&section, "domain")
    section.finish()
  }
}
