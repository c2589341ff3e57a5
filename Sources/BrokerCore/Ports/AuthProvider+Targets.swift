package import SecretMemory

/// A provider that gives a session one token, and no other.
extension AuthProvider {
  /// There are no others.
  package func canGive(_ target: TokenTarget) -> Bool { false }

  /// There are no others.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func accessToken(
    for target: TokenTarget, refreshToken: Secret
  ) async throws(ProviderFailure) -> TokenSet {
    throw .unsupported
  }
}
