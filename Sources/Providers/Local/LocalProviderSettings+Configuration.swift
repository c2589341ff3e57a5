/// How the embedded provider's section of a configuration is understood.
extension LocalProviderSettings {
  /// The settings that a configuration asks for.
  package init(_ configuration: LocalProviderConfiguration) {
    self.init()
    accessTokenLifetime = configuration.accessTokenLifetime
    refreshTokenLifetime = configuration.refreshTokenLifetime
    oneTimeCode.length = configuration.otp.length
    oneTimeCode.lifetime = configuration.otp.lifetime
    oneTimeCode.maxAttempts = configuration.otp.maxAttempts
    oneTimeCode.resendCooldown = configuration.otp.resendCooldown
  }
}
