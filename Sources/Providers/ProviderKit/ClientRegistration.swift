/// Instructions for registering a client at a provider.
package struct ClientRegistration: Sendable, Equatable {
  /// The page of the registration; `${key}` stands for the value of that key of the profile, `${key:-text}` for the
  /// text where it has none; nil where only its operator knows.
  package let address: String?
  /// The values to enter there.
  package let steps: String
  /// The client's keys that a profile of such a client has beside `clientId`; any other one can be given as well.
  package let keys: Set<String>
  /// The redirect address to register; nil for a loopback address with any port, which needs no mention.
  package let redirect: String?

  /// A registration.
  package init(_ address: String?, _ steps: String, keys: Set<String> = [], redirect: String? = nil) {
    self.address = address
    self.steps = steps
    self.keys = keys
    self.redirect = redirect
  }
}
