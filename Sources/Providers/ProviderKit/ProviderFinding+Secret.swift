package import BrokerCore
package import BrokerProtocol

/// The finding about a secret that a profile needs.
extension ProviderFinding {
  /// Reports whether the secret of a setting can be read, and nothing of the secret itself.
  ///
  /// - Parameters:
  ///   - setting: what the setting is called, such as `clientSecret`.
  ///   - source: what its source gives.
  /// - Returns: the finding, under the name of the setting.
  package static func secret<S>(_ setting: String, _ source: Result<S, ProviderFailure>) -> ProviderFinding {
    guard case .failure(let failure) = source else {
      return ProviderFinding(setting, .ok, "the secret that \(setting) names can be read")
    }
    if case .credentialMissing(let credential) = failure {
      return ProviderFinding(
        setting, .failure, "\(credential.subject) cannot be used: \(credential.reason).",
        advice: "Check \(setting) in the profile's section.", errorKind: failure.kind)
    }
    return ProviderFinding(
      setting, .failure, "The secret that \(setting) names cannot be read.",
      advice: "Check that file (yours alone), that variable (set where the broker starts) or that command.",
      errorKind: failure.kind)
  }
}
