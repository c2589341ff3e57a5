package import SecretMemory

/// What a new account is made from.
package struct Registration: Sendable {
  /// The account's e-mail address.
  package var email: String
  /// The password.
  package var password: Secret
  /// The name to show.
  package var name: String?
  /// Where one-time codes go.
  package var phoneNumber: String?

  package init(email: String, password: Secret, name: String? = nil, phoneNumber: String? = nil) {
    self.email = email
    self.password = password
    self.name = name
    self.phoneNumber = phoneNumber
  }
}
