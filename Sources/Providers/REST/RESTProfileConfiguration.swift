package import BrokerCore
package import ConfigurationFile
package import HTTP
package import ProviderKit

/// A profile on a REST backend.
package struct RESTProfileConfiguration: Sendable, Equatable {
  /// The address of the backend; paths are put below it.
  package var baseURL: HTTPURL
  /// The client's name at the backend; empty where there is none.
  package var clientID: String
  /// The reference to the client's password.
  package var clientSecret: SecretReference?
  /// The accepted certificates.
  package var tls: TLSPolicy
  /// The mapping of requests and replies.
  package var mapping: RESTMapping

  /// A backend that is called in the usual way, unless the configuration says otherwise.
  package init(
    baseURL: HTTPURL, clientID: String = "", clientSecret: SecretReference? = nil, tls: TLSPolicy = TLSPolicy(),
    mapping: RESTMapping = .standard
  ) {
    self.baseURL = baseURL
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.tls = tls
    self.mapping = mapping
  }

  /// Reads what a profile's section says of its backend.
  ///
  /// - Returns: nil where a setting is missing or faulty that has no default.
  package init?(_ section: inout ConfigurationSection) {
    section.require("baseUrl", #"write baseUrl: "https://…""#)
    let url = section.serverURL("baseUrl")
    clientID = section.string("clientId") ?? ""
    clientSecret = SecretReference.read("clientSecret", in: &section)
    var tlsSection = section.section("tls")
    tls = TLSPolicy(&tlsSection)
    var mappingSection = section.section("mapping")
    // A mapping that is not there is one value for all profiles, in memory too.
    let isStandard = !section.has("mapping") && !section.context.collectsKeys
    mapping = isStandard ? .standard : RESTMapping(&mappingSection)
    Self.check(mapping, clientID, section, mappingSection)
    guard let url else { return nil }
    baseURL = url
  }

  /// Checks the client authentication: one with a secret says how it is sent, and one that authenticates has both an id
  /// and a secret.
  private static func check(
    _ mapping: RESTMapping, _ clientID: String, _ section: ConfigurationSection, _ mappingSection: ConfigurationSection
  ) {
    let authenticates = mapping.clientAuthentication != .none
    if authenticates, !section.has("clientId") || !section.has("clientSecret") {
      mappingSection.report("clientAuth", "needs clientId and clientSecret")
    } else if authenticates, clientID.isEmpty, !section.isFaulty("clientId") {
      section.report("clientId", "must not be empty")
    }
    let isUnused = !authenticates && !mappingSection.isFaulty("clientAuth")
    if isUnused, section.has("clientSecret"), !section.isFaulty("clientSecret") {
      section.report("clientSecret", "is not used without mapping.clientAuth", #"write mapping: {clientAuth: "basic"}"#)
    }
  }
}

extension RESTProfileConfiguration: RemoteConfiguration {
  package var type: String { RESTProvider.type }

  package func makeProvider(
    client: HTTPClient, secrets: @escaping SecretFinder
  ) throws(HTTPFailure) -> any AuthProvider {
    try RESTProvider(self, client: client, secrets: secrets)
  }
}
