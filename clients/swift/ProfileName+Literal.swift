public import BrokerProtocol

/// A profile's name, written as it stands in the configuration: `try await client.accessToken(profile: "work")`.
///
/// A literal that no profile can have (see `ProfileName`) is a mistake of the program and stops it; a name that comes from
/// elsewhere goes through `ProfileName.init(_:)`, which returns nil.
extension ProfileName: ExpressibleByStringLiteral {
  /// The name.
  public init(stringLiteral text: String) {
    guard let name = ProfileName(text) else { preconditionFailure("no profile can have the name \(text)") }
    self = name
  }
}
