import BrokerProtocol

/// One of the capabilities that a provider may have.
package typealias CapabilityPath<Capability> = any KeyPath<ProviderCapabilities, Capability?> & Sendable

/// Look-ups of a provider's capabilities.
extension AuthProvider {
  /// Gives a capability of the provider.
  ///
  /// - Throws: `ProviderFailure.unsupported` where the provider does not have it.
  package func require<Capability>(_ path: CapabilityPath<Capability>) throws(ProviderFailure) -> Capability {
    guard let capability = capabilities[keyPath: path] else { throw .unsupported }
    return capability
  }

  /// The abilities of the provider, each named after the method that needs it.
  package var abilities: Set<ProviderAbility> {
    let capabilities = capabilities
    return Set(ProviderAbility.allCases.filter { has($0, capabilities) })
  }

  private func has(_ ability: ProviderAbility, _ capabilities: ProviderCapabilities) -> Bool {
    switch ability {
    case .register: capabilities.registration != nil
    case .verifyEmail: capabilities.emailVerification != nil
    case .forgotPassword: capabilities.forgottenPassword != nil
    case .resetPassword: capabilities.passwordReset != nil
    case .getCurrentUser: capabilities.userInfo != nil
    case .updateProfile: capabilities.profileUpdate != nil
    case .changePassword: capabilities.passwordChange != nil
    case .deleteAccount: capabilities.accountDeletion != nil
    case .resendOtp: capabilities.codeResending != nil
    case .verifyBackupCode: capabilities.backupCodes != nil
    case .generateBackupCodes: capabilities.backupCodeIssuing != nil
    case .createProof: capabilities.proofs != nil
    // A login that was begun while the configuration allowed its method is followed to its end; new ones are not begun.
    case .awaitLogin: loginMethods.contains { $0 == .deviceCode || $0 == .browser }
    }
  }
}
