/// The part of a profile's configuration that the provider rejects: no retry fixes it, and a login only where
/// ``needsLogin`` says so.
package enum ConfigurationFault: Sendable, Equatable, CaseIterable {
  /// The client's identity or authentication (RFC 6749, section 5.2, `invalid_client`).
  case client
  /// The grant, which the client may not use at the provider (`unauthorized_client`, `unsupported_grant_type`).
  case grant
  /// The scopes (`invalid_scope`), or the audience (RFC 8707, section 2, `invalid_target`).
  case scopes
  /// The form of the request (`invalid_request`).
  case request
  /// The address: no metadata of the provider is found there.
  case address
  /// The issuer: the provider's metadata names another one (RFC 8414, section 3.3).
  case issuer
  /// The project, by the key that names it.
  case project
  /// The redirect port, which is in use (bind(2)).
  case redirectPort
  /// The embedded provider's own files: damaged, or encrypted for another vault.
  case embeddedFiles
  /// The resource: its metadata name no authorization server that can be used (RFC 9728).
  case resource
  /// The authorization server of a session, since the resource names another one now.
  case movedResource
  /// The registered client (RFC 7591), which the authorization server does not know any more.
  case registration
  /// The client, which the authorization server does not register by itself.
  case unregistered
  /// The proof of the code (RFC 7636): the authorization server does not announce S256.
  case proof
  /// The proof of possession (RFC 9449): the provider wants one, or does not take it.
  case possession

  /// Whether a login is what is needed; the session stays as it is until then.
  package var needsLogin: Bool { self == .movedResource || self == .registration }

  /// One plain sentence that names the settings to check, without a word of the provider.
  package var message: String {
    switch self {
    case .client:
      "The provider rejected the client; check clientId and clientAuth in the configuration, and what the client shows "
        + "(clientSecret, privateKey or clientAssertion)."
    case .grant:
      "The provider does not allow this client that grant; check clientId and methods in the configuration, and what the "
        + "provider allows the client."
    case .scopes:
      "The provider rejected the scopes or the audience; check scopes, audience and resource in the "
        + "configuration, and the request's own scopes."
    case .request:
      "The provider rejected the request as malformed; check clientAuth, scopes, redirectUri and endpoints in the "
        + "configuration."
    case .address:
      "No discovery document was found at the provider's address; check the address in the configuration, or name its "
        + "endpoints there."
    case .issuer:
      "The provider describes itself under another issuer; check issuer (or baseUrl, realm, domain, tenant) in the "
        + "configuration; provider-check shows the line to change."
    case .project:
      "The provider rejected the project; check apiKey in the configuration, and what the project allows."
    case .embeddedFiles:
      "The embedded provider's files are damaged, or were encrypted for another vault; check what authbroker doctor says about "
        + "them."
    case .redirectPort:
      "The port of redirectUri is in use; cancel the login or stop the program that uses it, or check "
        + "redirectUri in the configuration (port 0 is any free port, if the provider allows it)."
    case .resource:
      "The resource's metadata (RFC 9728) name no authorization server that can be used; check resource and issuer in the "
        + "configuration; provider-check shows what was found."
    case .movedResource:
      "The resource names another authorization server now, which needs a login of its own; log in again."
    case .registration:
      "The authorization server does not know the registered client any more; log in again, which registers it again."
    case .unregistered:
      "The authorization server registers no clients by itself; register one there, and check clientId (or "
        + "clientMetadataUrl) in the configuration."
    case .possession:
      "The provider wants a proof of possession (DPoP, RFC 9449), or does not take this one; set dpop: true, or check this "
        + "machine's clock, and that the provider takes ES256."
    case .proof:
      "The authorization server does not announce PKCE with S256 (RFC 7636), so no login begins; ask its operator, or check "
        + "resource and issuer in the configuration."
    }
  }
}
