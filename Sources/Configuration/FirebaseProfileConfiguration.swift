/// A profile on a Firebase project.
package struct FirebaseProfileConfiguration: Sendable, Equatable {
  /// Where the project's Web API key is.
  package var apiKey: SecretReference
  /// The server below which both services are, such as Firebase's emulator; nil for Google's own.
  package var baseURL: String?
  /// Whom the servers' certificates must come from.
  package var tls: TLSConfiguration

  /// Reads what a profile's section says of its project.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value; unknown keys are the profile's to refuse.
  init(_ section: inout ConfigurationSection) throws(ConfigurationError) {
    guard let key = try SecretReference.read("apiKey", in: &section) else {
      throw section.failure("apiKey", #"must be given: where the project's Web API key is, such as {env: "…"}"#)
    }
    apiKey = key
    baseURL = try section.text("baseUrl")
    if let baseURL, !ServerAddress.isBaseURL(baseURL) { throw section.failure("baseUrl", ServerAddress.expectation) }
    var tlsSection = try section.section("tls")
    tls = try TLSConfiguration(&tlsSection)
  }
}
