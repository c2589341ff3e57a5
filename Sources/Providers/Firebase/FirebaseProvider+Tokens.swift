package import BrokerCore
import BrokerProtocol
import SecretMemory

/// Sessions and their tokens.
extension FirebaseProvider {
  /// Exchanges the refresh token for a new ID token; it is sent once.
  ///
  /// - Throws: `.sessionEnded(.refreshRejected)` where the account or the token is gone for good; `.outcomeUnknown` where
  ///   the reply was lost; `.misconfigured` for the project or its key; `.transient` for everything else.
  package func refresh(_ refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet {
    try await caller.ask(
      .token, [("grant_type", .text("refresh_token")), ("refresh_token", .secret(refreshToken.value))]
    ).read { reader throws(SecretMemoryExhausted) in
      var tokens = try reader.tokens()
      tokens?.subject = reader.refreshedUserID()
      return tokens
    }
  }
}
