package import BrokerProtocol

/// The user that a login must bring, where the user of a session authenticates again.
package struct ExpectedUser: Sendable, Equatable {
  /// The provider's name for the account.
  package var id: String?
  /// The account's e-mail address.
  package var email: String?

  /// A user by its known properties; nil where none is known.
  package init?(id: String?, email: String?) {
    guard id != nil || email != nil else { return nil }
    self.id = id
    self.email = email
  }

  /// Whether this is the user; an unknown user is not.
  package func isSame(as user: User?) -> Bool {
    guard let user else { return false }
    if let id { return id == user.id }
    return email != nil && email == user.email
  }
}
