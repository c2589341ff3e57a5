package import SecretMemory

/// A provider that gives its users backup codes.
package protocol BackupCodeIssuer: Sendable {
  /// Makes new backup codes, in place of those before; they are shown once.
  func generateBackupCodes(password: Secret, accessToken: Secret) async throws(ProviderFailure) -> [Secret]
}
