package import BrokerCore
import BrokerProtocol
package import HTTP

/// The failure of a refresh that brought nothing usable.
extension ProviderFailure {
  /// The failure for a success that cannot be read.
  ///
  /// The provider may have acted, and the reply may have had the next token in it, maybe its only copy: the outcome is not
  /// known. Only a page that does not speak of tokens is no token endpoint's: a captive portal or a proxy has answered,
  /// and the request got no further.
  ///
  /// - Parameters:
  ///   - response: a reply whose status is 2xx, and which cannot be read as one with tokens.
  ///   - vital: what its tokens are called.
  /// - Returns: a failure without a word of the provider.
  package static func unusable(_ response: HTTPResponse, _ vital: VitalMembers) -> ProviderFailure {
    let isStrange = BodyForm(response) == .html && !vital.areNamed(in: response)
    return isStrange ? .transient(.invalidResponse) : .outcomeUnknown(.invalidResponse)
  }

  /// The statuses of a gateway that has asked the provider and got no answer that it could wait for, or understand (RFC
  /// 9110, sections 15.6.3 and 15.6.5), with those of Cloudflare and of proxies that no standard has.
  ///
  /// By 521 to 523, 525, 526 and 530 Cloudflare reports that it has not reached the provider at all.
  private static let losses: Set<Int> = [502, 504, 520, 524, 598, 599]

  /// The failure for a gateway's status that may hide the provider's answer: the provider may have acted.
  ///
  /// - Parameters:
  ///   - status: the status.
  ///   - retryAfter: how long the gateway wants to be left alone.
  /// - Returns: nil for any other status.
  package static func lost(behindGateway status: Int, retryAfter: Duration?) -> ProviderFailure? {
    losses.contains(status) ? .outcomeUnknown(.providerUnavailable, retryAfter: retryAfter) : nil
  }
}
