package import BrokerCore
package import BrokerProtocol
package import SecretMemory

/// A client that the broker has registered at an authorization server by itself (RFC 7591).
package struct RegisteredClient: Sendable, Equatable {
  /// A client authentication that a registration can have (RFC 7591, section 2, `token_endpoint_auth_method`).
  package enum Authentication: String, Sendable, CaseIterable {
    /// By its identifier alone: a public client.
    case none
    /// By HTTP Basic.
    case basic = "client_secret_basic"
    /// By its password in the body.
    case post = "client_secret_post"
  }

  /// The issuer that it is registered at: at no other is it known, or used.
  package let issuer: String
  /// The client identifier.
  package let id: String
  /// The client authentication.
  package let authentication: Authentication
  /// The client's password; nil for a public client.
  package let secret: Secret?
  /// When the password expires; nil where it does not.
  package let secretExpiresAt: Timestamp?
  /// The redirect addresses that were registered.
  package let redirects: [String]
  /// When it was registered.
  package let registeredAt: Timestamp
  /// Whether the server has said that it does not know it: the next login registers another one.
  package var isForgotten = false

  /// A client.
  package init(
    issuer: String, id: String, authentication: Authentication, secret: Secret?, secretExpiresAt: Timestamp?,
    redirects: [String], registeredAt: Timestamp
  ) {
    self.issuer = issuer
    self.id = id
    self.authentication = authentication
    self.secret = secret
    self.secretExpiresAt = secretExpiresAt
    self.redirects = redirects
    self.registeredAt = registeredAt
  }

  /// Whether a login can begin with it.
  package func isUsable(at now: Timestamp) -> Bool {
    !isForgotten && (secretExpiresAt.map { now < $0 } ?? true)
  }
}

/// The store of registered clients; it is there while the vault is open.
package protocol RegisteredClientStore: Sendable {
  /// All clients, the oldest first; none where none can be read.
  ///
  /// - Throws: `.transient` where they cannot be read now.
  func clients() async throws(ProviderFailure) -> [RegisteredClient]

  /// Keeps these clients in place of all that are there, durably.
  ///
  /// - Throws: `.transient` where they cannot be written now.
  func keep(_ clients: [RegisteredClient]) async throws(ProviderFailure)
}
