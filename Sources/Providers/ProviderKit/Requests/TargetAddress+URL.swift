package import BrokerProtocol
package import HTTP

extension TargetAddress {
  /// Whether it is one of these, whatever their queries are.
  package func isAny(of others: [TargetAddress]) -> Bool {
    others.contains { $0.path == path && $0.origin == origin }
  }
}

extension HTTPURL {
  /// The same, taken apart; nil for one that no request may go to either.
  package var address: TargetAddress? { try? TargetAddress(origin + target) }
}
