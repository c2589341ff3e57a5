package import BrokerCore
import BrokerProtocol
package import HTTP

/// What it means for a refresh token that nothing usable came back.
extension ProviderFailure {
  /// What a success means that cannot be read.
  ///
  /// The provider may have acted, and the reply may have had the next token in it, maybe its only copy: the outcome is not
  /// known. Only a page is no token endpoint's: a captive portal or a proxy has answered, and the request got no further.
  ///
  /// - Parameter response: a reply whose status is 2xx, and which cannot be read as one with tokens.
  /// - Returns: a failure without a word of the provider.
  package static func unusable(_ response: HTTPResponse) -> ProviderFailure {
    BodyForm(response) == .html ? .transient(.invalidResponse) : .outcomeUnknown(.invalidResponse)
  }

  /// What a status means for a refresh token where a gateway has answered for a provider that it could not wait for, or
  /// did not understand: the provider may have acted (RFC 9110, sections 15.6.3 and 15.6.5).
  ///
  /// - Parameters:
  ///   - status: the status.
  ///   - retryAfter: how long the gateway wants to be left alone.
  /// - Returns: nil for any other status.
  package static func lost(behindGateway status: Int, retryAfter: Duration?) -> ProviderFailure? {
    status == 502 || status == 504 ? .outcomeUnknown(.providerUnavailable, retryAfter: retryAfter) : nil
  }
}
