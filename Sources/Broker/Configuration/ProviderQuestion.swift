import ConfigurationFile
import ProviderKit

/// One key of a profile that a person who sets it up is asked for.
package struct ProviderQuestion: Sendable, Equatable {
  /// The key in the profile's section.
  package let key: String
  /// The question, without a question mark.
  package let text: String
  /// Whether a profile needs it.
  package let isRequired: Bool
  /// Whether it says where a secret is.
  package let isSecret: Bool
  /// Whether a person is asked: else only where an option gives it, or the provider has refused the client.
  package let isAsked: Bool
  /// Why it is asked, in one sentence; nil where the question says it.
  package let reason: String?
  /// The default in words; nil where that needs none.
  package let usual: String?
  /// The value to write where nothing is answered: what the client was registered with; nil for nothing.
  package let value: String?

  /// The question for each key.
  private static let texts = [
    "issuer": "Issuer, such as https://sso.example.com", "baseUrl": "Base URL, such as https://api.example.com",
    "realm": "Realm", "domain": "Domain of the tenant, such as acme.eu.auth0.com",
    "tenant": "Tenant, its id or domain", "clientId": "Client ID", "clientSecret": "Client secret",
    "apiKey": "Web API key", "resource": "URL of the server, such as https://mcp.example.com/mcp",
    "redirectUri": "Redirect address, as it is registered", "secret": "API key or access token",
    "header": "Header that carries it, such as X-Api-Key",
  ]
  /// The default of a key, as far as it can be said in a word.
  private static let usual = [
    "baseUrl": "the provider's own", "tenant": "common", "redirectUri": "http://127.0.0.1, any port",
    "header": "Authorization: Bearer",
  ]
  /// Why a key is asked for that a profile may do without.
  private static let reasons = [
    "clientId": "A client ID is needed only where the server registers no clients by itself.",
    "clientSecret": "Some logins in a browser need the client's secret; press Enter where the provider has shown none.",
    "redirectUri":
      "A browser comes back to the redirect address, exactly as it is registered; a login with a code needs none.",
  ]
  private static let secretKeys: Set = ["clientSecret", "apiKey", "secret"]

  /// The question for a key.
  fileprivate init(_ key: String, isRequired: Bool, _ registration: ClientRegistration?) {
    self.key = key
    text = Self.texts[key] ?? key
    self.isRequired = isRequired
    isSecret = Self.secretKeys.contains(key)
    let reason = Self.reasons[key]
    isAsked = isRequired || reason == nil || registration?.keys.contains(key) == true
    self.reason = isRequired ? nil : reason
    value = key == "redirectUri" ? registration?.redirect : nil
    usual = isRequired ? nil : value ?? Self.usual[key]
  }
}

extension ProviderType {
  /// The questions for a person who sets up a profile on such a provider.
  ///
  /// The keys that a profile needs are found by reading one that has none of them.
  package var questions: [ProviderQuestion] {
    let missing = missingKeys
    return askedKeys.map { ProviderQuestion($0, isRequired: missing.contains($0), registration) }
  }

  private var missingKeys: Set<String> {
    let path = "profiles.default."
    let text = #"{profiles: {default: {provider: "\#(name)"}}}"#
    do throws(ConfigurationError) {
      _ = try BrokerConfiguration.parse(Array(text.utf8), file: "", environment: [:])
      return []
    } catch {
      let keys = error.mistakes.filter { $0.subject == .key && $0.path.hasPrefix(path) }
      return Set(keys.map { String($0.path.dropFirst(path.count)) })
    }
  }
}
