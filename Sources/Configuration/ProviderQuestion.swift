import ConfigurationFile

/// One key of a profile that a person who sets it up is asked for.
package struct ProviderQuestion: Sendable, Equatable {
  /// The key in the profile's section.
  package let key: String
  /// What is asked, without a question mark.
  package let text: String
  /// Whether a profile needs it.
  package let isRequired: Bool
  /// Whether it says where a secret is.
  package let isSecret: Bool
  /// What holds where nothing is answered; nil where that needs no word.
  package let usual: String?

  /// What is asked for each key.
  private static let texts = [
    "issuer": "Issuer, such as https://sso.example.com", "baseUrl": "Base URL, such as https://api.example.com",
    "realm": "Realm", "domain": "Domain of the tenant, such as acme.eu.auth0.com",
    "tenant": "Tenant, its id or domain", "clientId": "Client ID", "clientSecret": "Client secret",
    "apiKey": "Web API key", "redirectUri": "Redirect address, as it is registered",
  ]
  /// What holds where a key is left out, as far as it can be said in a word.
  private static let usual = [
    "baseUrl": "the provider's own", "tenant": "common", "redirectUri": "http://127.0.0.1, any port",
  ]
  private static let secretKeys: Set = ["clientSecret", "apiKey"]

  /// The question for a key.
  fileprivate init(_ key: String, isRequired: Bool) {
    self.key = key
    text = Self.texts[key] ?? key
    self.isRequired = isRequired
    isSecret = Self.secretKeys.contains(key)
    usual = isRequired ? nil : Self.usual[key]
  }
}

extension ProviderType {
  /// What a person who sets up a profile on such a provider is asked.
  ///
  /// Which keys a profile needs is found by reading one that has none of them.
  package var questions: [ProviderQuestion] {
    let missing = missingKeys
    return askedKeys.map { ProviderQuestion($0, isRequired: missing.contains($0)) }
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
