package import BrokerCore
package import BrokerProtocol
package import HTTP
import JSON
import LinuxSystem
package import RESTDialect
import SecretMemory

/// A backend with accounts behind an HTTP interface of its own, as most applications have one.
///
/// What it is called and how it answers is in its mapping; what is the same everywhere is here. No call is repeated that
/// may have reached the backend, but for one that only reads.
package final class RESTProvider: AuthProvider {
  /// What time it is.
  package typealias Clock = @Sendable () -> Timestamp

  /// The type's name in the configuration.
  package static let type = "rest"

  /// The backend's address and the client's name; what the mapping says is no part of it.
  package let binding: ProviderBinding
  /// What the mapping has an endpoint for.
  package let abilities: Set<ProviderAbility>

  /// How the backend is spoken to.
  let mapping: RESTMapping
  /// Asks for what needs no session: all that gets tokens.
  let publicCaller: PublicCaller
  /// Asks for what needs a session.
  let sessionCaller: SessionCaller
  /// The logins that wait for a code.
  let challenges = PendingChallenges()
  /// What time it is.
  let clock: Clock

  /// A provider; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - settings: where the backend is and how it is spoken to.
  ///   - client: sends the requests; shared by all providers of a process, and closed by its creator.
  ///   - clock: the wall clock, unless a test says otherwise.
  /// - Throws: `HTTPFailure.invalidURL` for a path that can stand in no URL.
  package init(
    _ settings: RESTProviderSettings, client: HTTPClient,
    clock: @escaping Clock = { Timestamp(milliseconds: WallClock.milliseconds) }
  ) throws(HTTPFailure) {
    mapping = settings.mapping
    binding = ProviderBinding(type: Self.type, issuer: Self.issuer(settings.baseURL), clientID: settings.clientID)
    abilities = Self.abilities(settings.mapping)
    let maker = try RequestMaker(settings.mapping, settings.baseURL)
    publicCaller = PublicCaller(maker, PublicTransport(client, policy: settings.tls), settings, clock)
    sessionCaller = SessionCaller(maker, AuthenticatedTransport(client, policy: settings.tls), clock)
    self.clock = clock
  }

  /// The address in one spelling: without a slash at its end.
  private static func issuer(_ url: HTTPURL) -> String {
    var target = Substring(url.target)
    while target.hasSuffix("/") { target.removeLast() }
    return url.origin + target
  }

  /// What a backend can do by its mapping.
  package static func abilities(_ mapping: RESTMapping) -> Set<ProviderAbility> {
    let needs: [(RESTEndpoint.Name, ProviderAbility)] = [
      (.register, .register), (.verifyEmail, .verifyEmail), (.forgotPassword, .forgotPassword),
      (.resetPassword, .resetPassword), (.currentUser, .getCurrentUser), (.updateProfile, .updateProfile),
      (.changePassword, .changePassword), (.deleteAccount, .deleteAccount), (.verifyBackupCode, .verifyBackupCode),
    ]
    var abilities = Set(needs.filter { mapping.endpoints[$0.0] != nil }.map(\.1))
    switch mapping.resendStrategy {
    case .endpoint: if mapping.endpoints[.resendOtp] != nil { abilities.insert(.resendOtp) }
    case .restartLogin: abilities.insert(.resendOtp)
    case .none: break
    }
    return abilities
  }
}
