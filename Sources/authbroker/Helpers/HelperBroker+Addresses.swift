import BrokerProtocol

extension HelperBroker {
  /// The target of the first of several addresses that has one.
  ///
  /// Tools hand over words that need not be addresses; such a word has no target.
  ///
  /// - Parameter addresses: in the order in which they are tried.
  /// - Returns: the target; nil where none of them has one.
  /// - Throws: a failure of the broker.
  mutating func target(ofFirst addresses: [String]) throws(CommandFailure) -> Target? {
    for address in addresses {
      do throws(CommandFailure) {
        if let target = try target(of: address) { return target }
      } catch {
        guard error.error?.kind == .invalidParams else { throw error }
      }
    }
    return nil
  }
}
