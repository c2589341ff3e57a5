public import JSON
public import SecretMemory

/// An ID token as it is handed to a client (OpenID Connect Core, section 2).
public struct IdentityToken: Sendable, Equatable {
  /// The token itself.
  public var idToken: Secret
  /// When it expires, by this machine's clock; nil where it does not say so.
  public var expiresAt: Timestamp?

  public init(idToken: Secret, expiresAt: Timestamp?) {
    self.idToken = idToken
    self.expiresAt = expiresAt
  }
}

extension IdentityToken: JSONEncodable, JSONDecodable {
  /// Writes the token in clear: only for the answer to the client that asked.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member(revealing: "idToken", idToken)
      writer.key("expiresAt")
      if let expiresAt { expiresAt.encode(to: &writer) } else { writer.null() }
    }
  }

  /// Reads a token into the locked arena.
  public init(from node: JSONNode) throws(JSONMismatch) {
    idToken = try node.required("idToken").token()
    expiresAt = try node.optional("expiresAt", Timestamp.init(from:))
  }
}
