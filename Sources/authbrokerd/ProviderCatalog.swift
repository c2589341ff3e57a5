import BrokerCore
import BrokerProtocol
import Configuration
import LocalProvider

/// Makes providers from the configuration.
///
/// The core knows none of them by name. Confined to the daemon's actor.
final class ProviderCatalog {
  /// The types that a profile can name, and what they can do where nothing is configured otherwise.
  static let types: [(name: String, abilities: Set<ProviderAbility>)] = [("local", LocalProvider.abilities)]

  private let stateDirectory: String
  private var local: LocalProvider?

  /// A catalog whose embedded provider keeps its files in a state directory.
  init(stateDirectory: String) {
    self.stateDirectory = stateDirectory
  }

  /// What the core is to know of the configured profiles; all profiles on the embedded provider share one.
  func settings(for configuration: BrokerConfiguration) -> [ProfileSettings] {
    let provider =
      local
      ?? LocalProvider(
        stateDirectory: stateDirectory, settings: LocalProviderSettings(configuration.local))
    local = provider
    return configuration.profiles.map { profile in
      ProfileSettings(
        name: profile.name, provider: provider,
        policy: ExpiryPolicy(skew: profile.refreshSkew, refreshesInBackground: profile.backgroundRefresh))
    }
  }

  /// Takes over what a configuration says of the providers themselves.
  func update(to configuration: BrokerConfiguration) async {
    await local?.update(LocalProviderSettings(configuration.local))
  }

  /// Closes what the providers have open.
  func close() async { await local?.shutDown() }
}

extension LocalProviderSettings {
  /// The settings that a configuration asks for.
  init(_ configuration: LocalProviderConfiguration) {
    self.init()
    accessTokenLifetime = configuration.accessTokenLifetime
    refreshTokenLifetime = configuration.refreshTokenLifetime
    oneTimeCode.length = configuration.otp.length
    oneTimeCode.lifetime = configuration.otp.lifetime
    oneTimeCode.maxAttempts = configuration.otp.maxAttempts
    oneTimeCode.resendCooldown = configuration.otp.resendCooldown
  }
}
