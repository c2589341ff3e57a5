package import BrokerCore
package import BrokerProtocol
package import HTTP
import JSON
import LinuxSystem
package import ProviderKit
import SecretMemory
import Synchronization

/// A backend with accounts behind an HTTP interface of its own, as most applications have one.
///
/// Its paths, names and habits are in its mapping; the common behaviour is here. No call is repeated that may have
/// reached the backend, but for one that only reads.
package final class RESTProvider: AuthProvider {
  /// The time.
  package typealias Clock = @Sendable () -> Timestamp

  /// The type's name in the configuration.
  package static let type = "rest"

  /// The backend's address and the client's name; what the mapping says is no part of it.
  package let binding: ProviderBinding
  /// A password is the only way in.
  package var loginForms: [LoginForm] {
    [LoginForm(method: .password, fields: [accountField.rawValue, RESTEndpoint.Field.password.rawValue])]
  }
  /// Whatever the backend gives.
  package var requestedScopes: [String] { [] }

  /// The mapping of requests and replies.
  let mapping: RESTMapping
  /// Asks for what needs no session: all that gets tokens.
  let publicCaller: PublicCaller
  /// Asks for what needs a session.
  let sessionCaller: SessionCaller
  /// The addresses at which sessions and accounts are made, changed and ended: made when they are first asked for, since most
  /// profiles of a fleet send no requests.
  var tokenAddresses: [TargetAddress] {
    madeAddresses.withLock { made in
      if let made { return made }
      let all = publicCaller.maker.tokenAddresses
      made = all
      return all
    }
  }
  private let madeAddresses = Mutex<[TargetAddress]?>(nil)
  /// The logins that wait for a code.
  let challenges = PendingChallenges()
  /// The time.
  let clock: Clock

  /// A provider; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - configuration: where the backend is and how it is spoken to.
  ///   - client: sends the requests; shared by all providers of a process, and closed by its creator.
  ///   - secrets: finds the client's password when it is needed.
  ///   - clock: the wall clock, unless a test says otherwise.
  /// - Throws: `HTTPFailure.invalidURL` for a path that can stand in no URL.
  package init(
    _ configuration: RESTProfileConfiguration, client: HTTPClient, secrets: @escaping SecretFinder,
    clock: @escaping Clock = { Timestamp(milliseconds: WallClock.milliseconds) }
  ) throws(HTTPFailure) {
    mapping = configuration.mapping
    binding = ProviderBinding(
      type: Self.type, issuer: Self.issuer(configuration.baseURL), clientID: configuration.clientID)
    let maker = try RequestMaker(configuration.mapping, configuration.baseURL)
    let transport = PublicTransport(client, policy: configuration.tls)
    publicCaller = PublicCaller(maker, transport, configuration, secrets, clock)
    sessionCaller = SessionCaller(maker, AuthenticatedTransport(client, policy: configuration.tls), clock)
    self.clock = clock
  }

  /// The address in one spelling: without a slash at its end.
  private static func issuer(_ url: HTTPURL) -> String {
    var target = Substring(url.target)
    while target.hasSuffix("/") { target.removeLast() }
    return url.origin + target
  }
}
