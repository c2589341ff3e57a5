package import BrokerCore
package import BrokerProtocol
package import HTTP
package import SecretMemory

/// The properties of a door, which stay the same for as long as it is open.
package struct DoorSettings: Sendable {
  /// The profile whose token is attached.
  package var profile: ProfileName
  /// The one server that requests go to.
  package var origin: TargetAddress.Origin
  /// The text that stands in the place of the token in the requests of its clients.
  package var placeholder: Secret
  /// The field in which clients send it, in lower case.
  package var slot: String
  /// Whether an answer 401 is passed on: some clients ask again because of it, and others begin a login of their own.
  package var passesUnauthorized: Bool
  /// Its port on 127.0.0.1; nil for a Unix socket, whose clients may leave the placeholder out.
  package var port: Int?

  /// A door of these properties.
  package init(
    profile: ProfileName, origin: TargetAddress.Origin, placeholder: Secret, slot: String, passesUnauthorized: Bool,
    port: Int?
  ) {
    (self.profile, self.origin, self.placeholder, self.slot) = (profile, origin, placeholder, slot)
    (self.passesUnauthorized, self.port) = (passesUnauthorized, port)
  }
}

/// The means by which a door serves its requests.
package struct DoorMeans: Sendable {
  /// Sends requests.
  package var transport: AuthenticatedTransport
  /// Lends the token as it was lent before, on the thread that calls it; nil where the broker is to be asked.
  package var lendAgain: @Sendable (LoanDemand) -> LentToken?
  /// Lends the token for one request, judged by the rules of this moment.
  package var lend: @Sendable (LoanDemand) async -> Result<LentToken, BrokerError>

  /// These means.
  package init(
    _ transport: AuthenticatedTransport, lendAgain: @escaping @Sendable (LoanDemand) -> LentToken?,
    lend: @escaping @Sendable (LoanDemand) async -> Result<LentToken, BrokerError>
  ) { (self.transport, self.lendAgain, self.lend) = (transport, lendAgain, lend) }
}
