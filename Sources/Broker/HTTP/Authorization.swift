import SecretMemory

/// The credentials of a request.
enum Authorization: Sendable {
  /// No particular one.
  case none
  /// The holder of an access token (RFC 6750, section 2.1).
  case bearer(Secret)
  /// The holder of an access token that is bound to a key (RFC 9449, section 7.1).
  case proven(Secret)
  /// A secret in a field that the caller names, behind a scheme where that is not empty.
  case secret(Secret, field: String, scheme: String)
  /// A client of the server (RFC 7617).
  case basic(ClientCredentials)

  /// Whether it is the same token, sent in the same way.
  func isSameToken(as other: Authorization) -> Bool {
    switch (self, other) {
    case (.bearer(let own), .bearer(let other)), (.proven(let own), .proven(let other)): own == other
    case (.secret(let own, let field, let scheme), .secret(let other, let otherField, let otherScheme)):
      field == otherField && scheme == otherScheme && own == other
    default: false
    }
  }
}
