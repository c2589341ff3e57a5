package import BrokerCore
package import BrokerProtocol
package import HTTP
import LinuxSystem
import SecretMemory

/// A Firebase project: accounts at the Identity Toolkit, refreshes at the Secure Token service.
///
/// Other services of the project are called with the ID token, so that is what sessions hand out. Refresh tokens do not
/// rotate; the services have no call that revokes one.
package final class FirebaseProvider: AuthProvider {
  /// What time it is.
  package typealias Clock = @Sendable () -> Timestamp

  /// The type's name in the configuration.
  package static let type = "firebase"
  /// What every project can do.
  package static let abilities: Set<ProviderAbility> = [
    .register, .verifyEmail, .forgotPassword, .resetPassword, .getCurrentUser, .updateProfile, .changePassword,
    .deleteAccount,
  ]

  /// The type and the services' address.
  ///
  /// What the key opens is no part of it: a refresh token of one project is refused
  /// with the key of another, and goes to the same servers.
  package let binding: ProviderBinding
  /// Asks the services.
  let caller: FirebaseCaller
  /// What time it is.
  let clock: Clock

  /// A provider; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - settings: which project, and where its services are.
  ///   - client: sends the requests; shared by all providers of a process, and closed by its creator.
  ///   - clock: the wall clock, unless a test says otherwise.
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  package init(
    _ settings: FirebaseProviderSettings, client: HTTPClient,
    clock: @escaping Clock = { Timestamp(milliseconds: WallClock.milliseconds) }
  ) throws(HTTPFailure) {
    caller = try FirebaseCaller(settings, client, clock)
    self.clock = clock
    binding = ProviderBinding(type: Self.type, issuer: Self.issuer(settings.baseURL))
  }

  /// What every project can do.
  package var abilities: Set<ProviderAbility> { Self.abilities }

  /// A password, or a refresh token that another program has got.
  package var loginMethods: [LoginMethod] { [.password, .refreshToken] }

  /// The address in one spelling: without a slash at its end.
  private static func issuer(_ url: HTTPURL?) -> String {
    guard let url else { return "https://identitytoolkit.googleapis.com" }
    var target = Substring(url.target)
    while target.hasSuffix("/") { target.removeLast() }
    return url.origin + target
  }
}
