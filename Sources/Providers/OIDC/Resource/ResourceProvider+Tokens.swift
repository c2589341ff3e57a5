package import BrokerCore
package import BrokerProtocol
import ProviderKit
package import SecretMemory

/// Sessions and their tokens: each goes to the issuer that it is of, by the client that it was issued to.
extension ResourceProvider: TargetProvider, RevocationProvider, UserInfoProvider, ClientSessionProvider, ProofProvider {
  /// Spends the refresh token, once.
  ///
  /// - Throws: as ``OIDCProvider/refresh(_:)``. `.misconfigured(.movedResource)` where the resource names another server
  ///   now, and `.misconfigured(.registration)` where the server has refused the client twice, a minute apart: the session
  ///   stays as it is, and a login is needed.
  package func refresh(_ refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet {
    try await spend(refreshToken) { provider throws(ProviderFailure) in try await provider.refresh(refreshToken) }
  }

  package func accessToken(
    for target: TokenTarget, refreshToken: BoundToken
  ) async throws(ProviderFailure) -> TokenSet {
    try await spend(refreshToken) { provider throws(ProviderFailure) in
      try await provider.accessToken(for: target, refreshToken: refreshToken)
    }
  }

  private func spend(
    _ token: BoundToken, _ call: (OIDCProvider) async throws(ProviderFailure) -> TokenSet
  ) async throws(ProviderFailure) -> TokenSet {
    guard let client = token.client else { throw .misconfigured(.registration) }
    if isRegistered(client), let rest = await clients.rest(of: client.id, at: client.issuer) {
      throw .transient(.providerRejected, retryAfter: rest)
    }
    // A resource that cannot be asked now says nothing: the session is its issuer's.
    if let metadata = try? await search.metadata(), !metadata.issuers.contains(client.issuer) {
      throw .misconfigured(.movedResource)
    }
    do throws(ProviderFailure) {
      let tokens = try await call(try await provider(of: client))
      await clients.accept(client.id, at: client.issuer)
      return tokens.issued(to: client)
    } catch { throw await unrefreshed(error, client) }
  }

  private func unrefreshed(_ failure: ProviderFailure, _ client: TokenClient) async -> ProviderFailure {
    switch failure {
    case .rotated(var rotated):
      rotated.refreshToken = rotated.refreshToken.issued(to: client)
      return .rotated(rotated)
    case .misconfigured(.client) where isRegistered(client):
      guard let rest = await clients.refuse(client.id, at: client.issuer) else { return .misconfigured(.registration) }
      return .transient(.providerRejected, retryAfter: rest)
    default: return failure
    }
  }

  package func canGive(_ target: TokenTarget) -> Bool { true }

  package func areClientsOwn(_ tokens: TokenSet) -> Bool { ClientGrant(tokens.refreshToken) != nil }

  /// It is not known before there is an issuer.
  package var habit: RevocationHabit? { nil }

  package func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure) {
    try await provider(of: tokens.accessToken.client).revoke(tokens, everywhere: everywhere)
  }

  package func currentUser(accessToken: BoundToken) async throws(ProviderFailure) -> User {
    try await provider(of: accessToken.client).currentUser(accessToken: accessToken)
  }

  package func proof(of token: BoundToken, for request: ProvenRequest) throws(ProviderFailure) -> Secret {
    try proofs.proof(of: token, for: request)
  }

  /// The capabilities of such a provider, as far as they are known before its issuer is found.
  package var capabilities: ProviderCapabilities {
    var capabilities = ProviderCapabilities()
    capabilities.userInfo = self
    capabilities.deviceLogin = self
    capabilities.browserLogin = self
    capabilities.clientSessions = self
    capabilities.targets = self
    capabilities.revocation = self
    capabilities.proofs = self
    return capabilities
  }
}
