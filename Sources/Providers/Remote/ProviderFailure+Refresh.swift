package import BrokerCore
import BrokerProtocol
package import HTTP

/// What it means for a refresh token that a success cannot be used.
extension ProviderFailure {
  /// Whether the provider itself has answered decides: then the token was spent, and the reply had the next one in it,
  /// maybe its only copy.
  ///
  /// So it is for JSON that ends in the middle, and for JSON that has a refresh token but is of no use otherwise. A page,
  /// an empty reply or any other JSON may come from somebody on the way (a captive portal answers 200, too).
  ///
  /// - Parameters:
  ///   - response: the success.
  ///   - isCut: whether its JSON ends in the middle.
  ///   - hasToken: whether there is a refresh token in it, usable or not.
  /// - Returns: a failure without a word of the provider.
  package static func unusable(_ response: HTTPResponse, isCut: Bool, hasToken: Bool) -> ProviderFailure {
    let isOwn = BodyForm(response) == .json && (isCut || hasToken)
    return isOwn ? .outcomeUnknown(.invalidResponse) : .transient(.invalidResponse)
  }
}

extension HTTPResponse {
  /// Whether a name stands in quotes somewhere in the body: for what cannot be read as JSON, although it begins so.
  package func mentions(_ name: String) -> Bool {
    let word = Array("\"\(name)\"".utf8)
    return body.withArray { bytes in
      guard bytes.count >= word.count else { return false }
      return (0...(bytes.count - word.count)).contains { bytes[$0..<($0 + word.count)].elementsEqual(word) }
    }
  }
}
