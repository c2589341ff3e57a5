package import JSON

/// The metadata that the broker has as a client (RFC 7591, section 2): in its registrations, and in the document that the
/// owner of a profile publishes.
package struct ClientMetadata: Sendable, Equatable {
  /// The redirect addresses.
  package var redirects: [String]
  /// The client authentication at the token endpoint.
  package var authentication = "none"

  /// The name that a person is shown when the server asks for consent.
  private static let name = "AuthBroker"

  /// A client that browsers come back to at these addresses.
  package init(redirects: [String]) { self.redirects = redirects }

  /// Writes the members.
  package func write(to writer: inout JSONWriter) {
    writer.member("client_name", Self.name)
    // A browser comes back to this machine: without that, some refuse a loopback address (OpenID Connect Dynamic Client
    // Registration, section 2).
    writer.member("application_type", "native")
    writer.member("redirect_uris", redirects)
    // Without the second one, servers issue none, and the session ends with its first token.
    writer.member("grant_types", ["authorization_code", "refresh_token"])
    writer.member("response_types", ["code"])
    writer.member("token_endpoint_auth_method", authentication)
  }

  /// The document to publish (OAuth Client ID Metadata Document, section 4): its own address is the client's identifier.
  package func document(at address: String) -> String {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("client_id", address)
      write(to: &writer)
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
