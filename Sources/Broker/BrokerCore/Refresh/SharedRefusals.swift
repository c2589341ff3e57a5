import BrokerProtocol

/// Refusals that several profiles of one provider get at the same time: they are about the provider, or about what all of
/// the profiles are configured with, and say nothing of a refresh token.
struct SharedRefusals: Sendable {
  /// What comes within this time comes at the same time: a provider's trouble lasts longer.
  static let window = Duration.seconds(120)

  private struct Provider: Hashable {
    let type: String
    let issuer: String
  }

  private var last: [Provider: [ProfileName: Duration]] = [:]

  /// Notes a refusal at an uptime; true where another profile of the provider got one as well.
  mutating func note(_ profile: ProfileName, of binding: ProviderBinding, at uptime: Duration) -> Bool {
    let provider = Provider(type: binding.type, issuer: binding.issuer)
    var recent = last[provider, default: [:]].filter { uptime - $0.value < Self.window }
    recent[profile] = uptime
    last[provider] = recent
    return recent.count > 1
  }
}
