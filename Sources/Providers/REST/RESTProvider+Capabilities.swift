package import BrokerCore

/// The capabilities of a backend by its mapping.
extension RESTProvider {
  /// The capabilities for which the mapping has an endpoint; another code may also be had by the login again.
  package var capabilities: ProviderCapabilities {
    var capabilities = ProviderCapabilities()
    capabilities.registration = mapped(.register)
    capabilities.emailVerification = mapped(.verifyEmail)
    capabilities.forgottenPassword = mapped(.forgotPassword)
    capabilities.passwordReset = mapped(.resetPassword)
    capabilities.userInfo = mapped(.currentUser)
    capabilities.profileUpdate = mapped(.updateProfile)
    capabilities.passwordChange = mapped(.changePassword)
    capabilities.accountDeletion = mapped(.deleteAccount)
    capabilities.challenges = mapped(.verifyOtp)
    capabilities.backupCodes = mapped(.verifyBackupCode)
    capabilities.targets = mapped(.refresh)
    capabilities.revocation = mapped(.logout)
    switch mapping.resendStrategy {
    case .endpoint: capabilities.codeResending = mapped(.resendOtp)
    case .restartLogin: capabilities.codeResending = self
    case .none: break
    }
    return capabilities
  }

  /// The provider, where the backend has an endpoint for it.
  private func mapped(_ name: RESTEndpoint.Name) -> RESTProvider? {
    mapping.endpoints[name] == nil ? nil : self
  }
}
