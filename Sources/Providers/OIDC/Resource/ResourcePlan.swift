/// The keys by which a profile names a protected resource, from which everything else is found.
package struct ResourcePlan: Sendable, Equatable {
  /// The issuer to take of those that the resource names; nil for the first one.
  package var issuer: String?
  /// The address of the document that the owner of the profile has published about the client (OAuth Client ID Metadata
  /// Document); nil for none.
  package var clientMetadataURL: String?

  /// The first issuer, and a client that is registered.
  package init() {}
}
