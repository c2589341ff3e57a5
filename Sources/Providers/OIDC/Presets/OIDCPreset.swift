package import BrokerCore
import BrokerProtocol
import ConfigurationFile
package import ProviderKit

/// A provider that a configuration can name: the keys of its address, and its dialect.
package struct OIDCPreset: Sendable {
  /// Its name in the configuration.
  package let name: String
  /// Its name for people.
  package let title: String
  /// The keys that name the issuer, as people are shown them; nil where a profile cannot choose it.
  let issuerKeys: String?
  /// The provider's abilities in its default configuration.
  package let abilities: Set<ProviderAbility>
  /// The instructions for registering a client, for the person who sets up a profile.
  package let registration: ClientRegistration
  /// Whether a profile can say that the provider's metadata are not read.
  let takesDiscovery: Bool
  /// Whether a profile must name its client; else it is found, or registered.
  package let needsClient: Bool
  /// Reads the keys that the provider is found by; nil where one is missing or faulty.
  let dialect: @Sendable (inout ConfigurationSection) -> OIDCDialect?

  /// A preset.
  init(
    name: String, title: String, issuerKeys: String? = nil,
    abilities: Set<ProviderAbility> = [.getCurrentUser, .createProof],
    registration: ClientRegistration, takesDiscovery: Bool = false, needsClient: Bool = true,
    dialect: @escaping @Sendable (inout ConfigurationSection) -> OIDCDialect?
  ) {
    self.name = name
    self.title = title
    self.issuerKeys = issuerKeys
    self.abilities = abilities
    self.registration = registration
    self.takesDiscovery = takesDiscovery
    self.needsClient = needsClient
    self.dialect = dialect
  }

  /// The keys that the provider is found by, in the order in which they are read.
  package var keys: [String] {
    let context = ConfigurationContext()
    var section = context.blankSection("")
    _ = dialect(&section)
    return context.keys[""]
  }

  /// All of them, in the order in which capabilities list them.
  package static let all: [OIDCPreset] = [.oidc, .keycloak, .auth0, .google, .microsoft, .github, .gitlab, .mcp]

  /// The preset with a name; nil where there is none.
  static func named(_ name: String) -> OIDCPreset? { all.first { $0.name == name } }
}

extension LoginMethod {
  /// The methods without the user's password, which public providers offer to programs.
  static let withoutPassword: [LoginMethod] = [.refreshToken, .browser, .deviceCode]
}

/// An address without the slashes at its end.
func withoutTrailingSlashes(_ url: String) -> String {
  var url = Substring(url)
  while url.hasSuffix("/") { url.removeLast() }
  return String(url)
}
