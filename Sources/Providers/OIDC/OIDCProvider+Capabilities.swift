package import BrokerCore

/// The capabilities of a dialect, as far as they are known without asking the provider.
extension OIDCProvider {
  /// The capabilities for which the provider has an endpoint.
  ///
  /// One that only its metadata name is taken to be there; a call for one that they do not name is `.unsupported`. A login
  /// that was begun before the configuration stopped naming its method is followed all the same.
  package var capabilities: ProviderCapabilities {
    var capabilities = ProviderCapabilities()
    if dialect.usesDiscovery || dialect.endpoints[.userinfo] != nil { capabilities.userInfo = self }
    if dialect.quirks.asksForSecondFactor {
      capabilities.challenges = self
      capabilities.codeResending = self
      capabilities.backupCodes = self
    }
    capabilities.deviceLogin = self
    capabilities.browserLogin = self
    capabilities.clientSessions = self
    if dialect.grant != nil { capabilities.grant = self }
    capabilities.targets = self
    capabilities.revocation = self
    // A session that has a key keeps it, whatever the configuration says now.
    capabilities.proofs = self
    return capabilities
  }
}
