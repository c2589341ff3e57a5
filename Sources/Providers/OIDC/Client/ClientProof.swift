import HTTP
import SecretMemory

/// The source of an assertion about the client, which it is known by in place of a password (RFC 7521, section 4.2).
package enum ClientAssertion: Sendable, Equatable {
  /// Another party issues it.
  case issued(AssertionSource, AssertionType)
  /// The client signs it with its own key.
  case signed(ClientKey)
}

/// The type of a client assertion.
package enum AssertionType: String, Sendable, CaseIterable {
  /// A JWT of the client itself, or of a platform for its workloads (RFC 7523, section 2.2).
  case jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
  /// A JWT of SPIFFE (draft-ietf-oauth-spiffe-client-auth).
  case jwtSPIFFE = "urn:ietf:params:oauth:client-assertion-type:jwt-spiffe"
}

/// The means by which a client shows at one request who it is (RFC 6749, section 2.3; RFC 7521, section 4.2).
enum ClientProof: Sendable {
  /// Its name alone.
  case name
  /// A password, by HTTP Basic.
  case basic(Secret)
  /// A password, in the form.
  case post(Secret)
  /// An assertion, in the form.
  case assertion(Secret, AssertionType)

  /// Adds it to a form.
  ///
  /// - Returns: what goes into the header instead.
  func add(clientID: String, to form: inout TokenCaller.Form) -> ClientCredentials? {
    if case .basic(let secret) = self { return ClientCredentials(id: clientID, secret: secret) }
    form.append(("client_id", .text(clientID)))
    switch self {
    case .name, .basic: break
    case .post(let secret): form.append(("client_secret", .secret(secret)))
    case .assertion(let assertion, let type):
      form += [("client_assertion_type", .text(type.rawValue)), ("client_assertion", .secret(assertion))]
    }
    return nil
  }
}
