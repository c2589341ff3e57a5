import BrokerProtocol

extension HelperBroker {
  /// The target of an address that a person named.
  ///
  /// - Throws: a failure that says where to add it; with code 2 for what is no address.
  mutating func configuredTarget(of address: String) throws(CommandFailure) -> Target {
    if let target = try target(of: address) { return target }
    throw CommandFailure(
      .failure,
      "\(address.shellQuoted) \(Self.notConfigured); name a profile with --profile", next: Self.addition(of: address))
  }

  /// How an address becomes a target, also of a running broker.
  static func addition(of address: String) -> NextCommand { NextCommand("or add it with", "target", "add", address) }

  /// What is said of an address without a target, as the end of a sentence.
  static var notConfigured: String { "is not a configured target" }

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
