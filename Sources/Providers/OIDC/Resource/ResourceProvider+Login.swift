package import BrokerCore
import BrokerProtocol
import HTTP
import ProviderKit
import SecretMemory

/// Logins at the authorization server that the resource names.
extension ResourceProvider {
  /// The findings that a login begins with.
  struct Place: Sendable {
    /// The resource's metadata.
    let metadata: ResourceMetadata
    /// The issuer that was taken.
    let issuer: String
    /// The features that it announces.
    let features: ServerFeatures

    /// The scopes to ask for: those of the refusal, else those of the metadata, else none; `offline_access` where the
    /// server announces it, and not else.
    func scopes(_ configured: [String]) -> [String] {
      guard configured.isEmpty else { return configured }
      let offline = "offline_access"
      let isOffered = features.scopes?.contains(offline) == true
      return metadata.scopes.filter { $0 != offline } + (isOffered ? [offline] : [])
    }
  }

  /// Finds the authorization server of the resource.
  ///
  /// - Throws: `.misconfigured(.resource)` where there is none that can be used, or not the configured one;
  ///   `.misconfigured(.issuer)` where its metadata are another issuer's; `.transient`.
  func place() async throws(ProviderFailure) -> Place {
    let metadata: ResourceMetadata
    do throws(ResourceDiscovery.Failure) { metadata = try await search.metadata() } catch {
      throw ProviderFailure(error)
    }
    guard let issuer = plan.issuer ?? metadata.issuers.first, metadata.issuers.contains(issuer) else {
      throw .misconfigured(.resource)
    }
    return Place(metadata: metadata, issuer: issuer, features: try await discovery(of: issuer).features())
  }

  /// Begins a login by one of the configured methods.
  ///
  /// - Throws: as ``place()`` and ``OIDCProvider/login(_:)``; `.misconfigured(.unregistered)` where there is no client.
  package func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    guard loginMethods.contains(credentials.method) else { throw .unsupported }
    let place = try await place()
    if credentials.method == .browser, !place.features.takesProof { throw .misconfigured(.proof) }
    let (client, registered) = try await client(at: place)
    let scopes = place.scopes(configuration.dialect.scopes)
    do throws(ProviderFailure) {
      guard credentials.method == .browser else {
        let provider = try provider(of: client, registered) { $0.dialect.scopes = scopes }
        return try outcome(try await provider.login(credentials), client)
      }
      return try await beginBrowser(credentials, client, registered, scopes)
    } catch {
      throw await refused(error, client)
    }
  }

  /// Begins to listen at the first of the client's redirect addresses that is free.
  private func beginBrowser(
    _ credentials: Credentials, _ client: TokenClient, _ registered: RegisteredClient?, _ scopes: [String]
  ) async throws(ProviderFailure) -> LoginOutcome {
    var failure = ProviderFailure.misconfigured(.redirectPort)
    for redirect in RegisteredRedirects.usable(registered?.redirects ?? [], configuration.redirect) {
      let provider = try provider(of: client, registered) { found in
        found.dialect.scopes = scopes
        found.redirect = redirect
      }
      do throws(ProviderFailure) { return try outcome(try await provider.login(credentials), client) } catch {
        guard error == .misconfigured(.redirectPort) else { throw error }
        failure = error
      }
    }
    throw failure
  }

  private func outcome(
    _ outcome: LoginOutcome, _ client: TokenClient
  ) throws(ProviderFailure) -> LoginOutcome {
    switch outcome {
    case .authenticated(let session): return .authenticated(session.issued(to: client))
    case .userActionRequired(var action):
      do throws(SecretMemoryExhausted) { action.flow = try ResourceFlow(client, action.flow).handle() } catch {
        throw .transient(.overloaded)
      }
      return .userActionRequired(action)
    case .otpRequired, .emailVerificationRequired: return outcome
    }
  }

  // MARK: The client

  /// The client for a login: the configured one, else the one that its document describes, else a registered one.
  private func client(
    at place: Place
  ) async throws(ProviderFailure) -> (client: TokenClient, registered: RegisteredClient?) {
    func named(_ id: String) -> TokenClient {
      TokenClient(issuer: place.issuer, id: id, resource: place.metadata.resource)
    }
    if !configuration.clientID.isEmpty { return (named(configuration.clientID), nil) }
    if let address = plan.clientMetadataURL, place.features.takesClientDocuments { return (named(address), nil) }
    let registrar = registrar(at: place)
    let (issuer, resource) = (place.issuer, place.metadata.resource)
    let registered = try await clients.client(at: issuer, now: clock()) { client in
      await self.isKnown(client, TokenClient(issuer: issuer, id: client.id, resource: resource))
    } register: { () throws(ProviderFailure) in
      try await registrar.register()
    }
    return (named(registered.id), registered)
  }

  private func registrar(at place: Place) -> ClientRegistrar {
    ClientRegistrar(
      transport: transport, issuer: place.issuer, features: place.features,
      redirects: RegisteredRedirects.new(configuration.redirect), clock: clock)
  }

  /// Whether a registered client can be used here: it has the profile's redirect address, and the server does not say that
  /// it has forgotten it: a browser would show that to its user alone.
  private func isKnown(_ registered: RegisteredClient, _ client: TokenClient) async -> Bool {
    let redirect = configuration.redirect
    if redirect.port != 0, !registered.redirects.contains(redirect.text(port: redirect.port)) { return false }
    guard let provider = try? provider(of: client, registered) else { return true }
    return await provider.examineClient()?.level != .failure
  }
}

extension ProviderSession {
  /// The session with its tokens, of a client that was found at the login.
  func issued(to client: TokenClient) -> ProviderSession {
    var session = self
    session.tokens = tokens.issued(to: client)
    return session
  }
}
