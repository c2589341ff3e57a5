package import SecretMemory

/// A provider whose users make new backup codes.
package protocol BackupCodeIssuer: Sendable {
  /// Makes new backup codes, and ends the earlier ones; they are told this once.
  func generateBackupCodes(password: Secret, accessToken: BoundToken) async throws(ProviderFailure) -> [Secret]
}
