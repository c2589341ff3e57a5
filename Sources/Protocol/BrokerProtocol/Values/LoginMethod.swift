/// A way to start a session, named as in the parameter `method` of `login`.
public enum LoginMethod: String, Sendable, CaseIterable {
  /// An e-mail address or phone number and a password; the provider may ask for a one-time code.
  case password
  /// A code that the user types in at another device (RFC 8628).
  case deviceCode
  /// A browser on this computer that comes back to a loopback address (RFC 8252).
  case browser
  /// The client itself, without a user (RFC 6749, section 4.4).
  case clientCredentials
  /// A refresh token that another program has obtained (RFC 6749, section 6).
  case refreshToken

  /// Other names that people type, on a command line or in a configuration; the wire knows the methods' own only.
  public static let aliases: [String: LoginMethod] = ["device": .deviceCode, "client": .clientCredentials]

  /// The method of a name or of an alias.
  public init?(name: String) {
    guard let method = LoginMethod(rawValue: name) ?? Self.aliases[name] else { return nil }
    self = method
  }
}
