package import BrokerProtocol
package import JSON
package import SecretMemory

/// What a caller is told, once.
package enum Answer: Sendable {
  /// The result of its method.
  case value(any JSONEncodable & Sendable)
  /// The result as JSON: it holds a token.
  case rendered(Secret)
  /// Why there is no result.
  case failure(BrokerError)
}
