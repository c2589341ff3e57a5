package import BrokerCore
package import BrokerProtocol
package import HTTP
package import SecretMemory

/// The properties of a door, which stay the same for as long as it is open.
package struct DoorSettings: Sendable {
  /// The profile whose token is attached.
  package let profile: ProfileName
  /// The one server that requests go to.
  package let origin: TargetAddress.Origin
  /// The text that stands in the place of the token in the requests of its clients.
  package let placeholder: Secret
  /// The field in which clients send it, in lower case.
  package let slot: String
  /// Whether an answer 401 is passed on: some clients ask again because of it, and others begin a login of their own.
  package let passesUnauthorized: Bool
  /// Its port on 127.0.0.1; nil for a Unix socket, whose clients may leave the placeholder out.
  package let port: Int?
  /// How long a client may take not one byte of what is written to it.
  ///
  /// As nginx does by default (`send_timeout`): it is measured between two writes and not for the whole of an answer, so that a
  /// slow client is served for as long as it goes on.
  package var writeTime = Duration.seconds(60)
  /// The address of the server that requests go to; nil where no request can be sent to it.
  let server: HTTPURL?
  /// The values that `Host` may have on a port.
  let hosts: [String]

  /// A door of these properties.
  package init(
    profile: ProfileName, origin: TargetAddress.Origin, placeholder: Secret, slot: String, passesUnauthorized: Bool,
    port: Int?
  ) {
    (self.profile, self.origin, self.placeholder, self.slot) = (profile, origin, placeholder, slot)
    (self.passesUnauthorized, self.port) = (passesUnauthorized, port)
    server = try? HTTPURL(origin.text)
    hosts = port.map { port in ["127.0.0.1", "localhost", "[::1]"].map { "\($0):\(port)" } } ?? []
  }
}

/// The means by which a door serves its requests.
package struct DoorMeans: Sendable {
  /// Sends requests.
  package var transport: AuthenticatedTransport
  /// The loan that holds for the next requests as well; nil where the broker is to be asked for each.
  package var memory: LoanMemory?
  /// Lends the token for one request, judged by the rules of this moment.
  package var lend: @Sendable (LoanDemand) async -> Result<LentToken, BrokerError>

  /// These means.
  package init(
    _ transport: AuthenticatedTransport, memory: LoanMemory?,
    lend: @escaping @Sendable (LoanDemand) async -> Result<LentToken, BrokerError>
  ) { (self.transport, self.memory, self.lend) = (transport, memory, lend) }
}
