public import JSONRPC

/// What a provider says of the account behind a session.
public struct User: Sendable, Equatable {
  /// The provider's name for the account, unique at that provider.
  public var id: String
  /// The account's e-mail address.
  public var email: String?
  /// Whether the provider has verified the address.
  public var emailVerified: Bool?
  /// The name to show.
  public var name: String?
  /// The phone number with all but its last digits masked.
  public var phoneNumberMasked: String?

  /// An account's description.
  public init(
    id: String, email: String? = nil, emailVerified: Bool? = nil, name: String? = nil, phoneNumberMasked: String? = nil
  ) {
    self.id = id
    self.email = email
    self.emailVerified = emailVerified
    self.name = name
    self.phoneNumberMasked = phoneNumberMasked
  }
}

extension User: JSONEncodable, JSONDecodable {
  /// Writes the members that are known.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("id", id)
      writer.member(ifPresent: "email", email)
      writer.member(ifPresent: "emailVerified", emailVerified)
      writer.member(ifPresent: "name", name)
      writer.member(ifPresent: "phoneNumberMasked", phoneNumberMasked)
    }
  }

  /// Reads a description.
  public init(from node: JSONNode) throws(JSONMismatch) {
    id = try node.required("id").string()
    email = try node.optional("email", String.init(from:))
    emailVerified = try node.optional("emailVerified", Bool.init(from:))
    name = try node.optional("name", String.init(from:))
    phoneNumberMasked = try node.optional("phoneNumberMasked", String.init(from:))
  }
}
