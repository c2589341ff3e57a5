package import RESTDialect

/// A profile on a REST backend.
package struct RESTProfileConfiguration: Sendable, Equatable {
  /// Where the backend is.
  package var baseURL: String
  /// The client's name at the backend; empty where there is none.
  package var clientID: String
  /// Where the client's password is.
  package var clientSecret: SecretReference?
  /// Whom its certificate must come from.
  package var tls: TLSConfiguration
  /// How it is spoken to.
  package var mapping: RESTMapping

  /// Reads what a profile's section says of its backend.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value; unknown keys are the profile's to refuse.
  init(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    guard let url = try section.text("baseUrl"), ServerAddress.isBaseURL(url) else {
      throw section.failure("baseUrl", ServerAddress.expectation)
    }
    baseURL = url
    clientID = try section.text("clientId") ?? ""
    clientSecret = try SecretReference.read("clientSecret", in: &section)
    var tlsSection = try section.section("tls")
    tls = try TLSConfiguration(&tlsSection)
    var mappingSection = try section.section("mapping")
    mapping = try RESTMapping(&mappingSection)
    let authenticates = mapping.clientAuthentication != .none
    guard !authenticates || (!clientID.isEmpty && clientSecret != nil) else {
      throw mappingSection.failure("clientAuth", "needs clientId and clientSecret")
    }
    guard authenticates || clientSecret == nil else {
      throw section.failure("clientSecret", #"is of no use: mapping.clientAuth is "none""#)
    }
  }
}
