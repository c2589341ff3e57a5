package import SecretMemory

/// A provider that takes a backup code instead of a one-time code.
package protocol BackupCodeProvider: Sendable {
  /// What becomes of the dashes that a person types in a backup code.
  var dashesOfBackupCodes: TypedCode.Dashes { get }

  /// Answers a pending challenge with one of the account's backup codes. `flow` is the provider's own handle.
  func verifyBackupCode(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession
}
