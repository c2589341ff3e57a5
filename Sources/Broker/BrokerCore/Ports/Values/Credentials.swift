package import BrokerProtocol
package import SecretMemory

/// The credentials of a login; a provider takes what it needs.
package struct Credentials: Sendable, Equatable {
  /// The login method.
  package var method: LoginMethod
  /// The account's e-mail address.
  package var email: String?
  /// The password.
  package var password: Secret?
  /// The phone number, for providers that log in with one.
  package var phoneNumber: String?
  /// A refresh token to take over.
  package var refreshToken: Secret?
  /// The requested scopes; empty for the provider's default.
  package var scopes: [String]
  /// Whether the user must authenticate although the provider may know them still (OpenID Connect Core, section
  /// 3.1.2.1, `prompt=login`).
  package var wantsFreshProof = false
  /// The demands of a server on the login; nil where there are none.
  package var stepUp: StepUp?
  /// Whether the login takes the place of one of the same profile that waits for its user; a trial leaves it alone.
  package var replacesPending = true

  package init(
    method: LoginMethod = .password, email: String? = nil, password: Secret? = nil, phoneNumber: String? = nil,
    refreshToken: Secret? = nil, scopes: [String] = []
  ) {
    self.method = method
    self.email = email
    self.password = password
    self.phoneNumber = phoneNumber
    self.refreshToken = refreshToken
    self.scopes = scopes
  }
}

/// The input for a new account.
package struct Registration: Sendable {
  /// The account's e-mail address.
  package var email: String
  /// The password.
  package var password: Secret
  /// The name to show.
  package var name: String?
  /// The phone number for one-time codes.
  package var phoneNumber: String?

  package init(email: String, password: Secret, name: String? = nil, phoneNumber: String? = nil) {
    self.email = email
    self.password = password
    self.name = name
    self.phoneNumber = phoneNumber
  }
}
