package import BrokerCore
package import BrokerProtocol
package import HTTP
import LinuxSystem
package import ProviderKit
import SecretMemory

/// A Firebase project: accounts at the Identity Toolkit, refreshes at the Secure Token service.
///
/// Other services of the project are called with the ID token, so that is what sessions hand out. Refresh tokens do not
/// rotate; the services have no call that revokes one.
package final class FirebaseProvider: AuthProvider {
  /// The time.
  package typealias Clock = @Sendable () -> Timestamp

  /// The type's name in the configuration.
  package static let type = "firebase"
  /// The instructions for finding the project's key.
  package static let registration = ClientRegistration(
    "https://console.firebase.google.com", "open the project's settings; the page General shows the Web API key")
  /// The type and the services' address.
  ///
  /// What the key opens is no part of it: a refresh token of one project is refused
  /// with the key of another, and goes to the same servers.
  package let binding: ProviderBinding
  /// Asks the services.
  let caller: FirebaseCaller
  /// The time.
  let clock: Clock

  /// A provider; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - configuration: which project, and where its services are.
  ///   - client: sends the requests; shared by all providers of a process, and closed by its creator.
  ///   - secrets: finds the project's key when it is needed.
  ///   - clock: the wall clock, unless a test says otherwise.
  /// - Throws: `HTTPFailure.invalidURL` for an address that is not called.
  package init(
    _ configuration: FirebaseProfileConfiguration, client: HTTPClient, secrets: @escaping SecretFinder,
    clock: @escaping Clock = { Timestamp(milliseconds: WallClock.milliseconds) }
  ) throws(HTTPFailure) {
    caller = try FirebaseCaller(configuration, client, secrets, clock)
    self.clock = clock
    binding = ProviderBinding(type: Self.type, issuer: Self.issuer(configuration.baseURL))
  }

  /// A password, or a refresh token that another program has got.
  package var loginForms: [LoginForm] { [LoginForm(.password), LoginForm(.refreshToken)] }

  /// The services know no scopes.
  package var requestedScopes: [String] { [] }

  /// The same for every project; the services revoke nothing for a client, and a second factor's codes come from an app,
  /// so that none is sent.
  package var capabilities: ProviderCapabilities {
    var capabilities = ProviderCapabilities()
    capabilities.registration = self
    capabilities.emailVerification = self
    capabilities.forgottenPassword = self
    capabilities.passwordReset = self
    capabilities.userInfo = self
    capabilities.profileUpdate = self
    capabilities.passwordChange = self
    capabilities.accountDeletion = self
    capabilities.challenges = self
    return capabilities
  }

  /// The address in one spelling: without a slash at its end.
  private static func issuer(_ url: HTTPURL?) -> String {
    guard let url else { return "https://identitytoolkit.googleapis.com" }
    var target = Substring(url.target)
    while target.hasSuffix("/") { target.removeLast() }
    return url.origin + target
  }
}
