import AuthBrokerClient
import BrokerProtocol

extension HelperBroker {
  /// The target of an address that a person named.
  ///
  /// - Throws: a failure that says where to add it; with code 2 for what is no address.
  mutating func configuredTarget(of address: String) throws(CommandFailure) -> Target {
    if let target = try target(of: address) { return target }
    throw Self.missing(address)
  }

  /// The token of an address that a person named.
  ///
  /// - Throws: as ``configuredTarget(of:)`` and ``token(for:)``.
  mutating func configuredGrant(
    for address: String, insteadOf refused: String? = nil
  ) throws(CommandFailure) -> Grant {
    if let grant = try grant(for: address, insteadOf: refused) { return grant }
    throw Self.missing(address)
  }

  /// The failure for an address without a target.
  static func missing(_ address: String) -> CommandFailure {
    CommandFailure(.broker(BrokerError(.unknownTarget))).saying(
      Message("\(address.shellQuoted) \(notConfigured); name a profile with --profile", next: addition(of: address)))
  }

  /// The command that adds a target for an address, also to a running broker.
  static func addition(of address: String) -> NextCommand { NextCommand("or add it with", "target", "add", address) }

  /// The statement of what became of the token of a target that was reported as refused.
  static func replacement(of target: Target, isThere: Bool) -> String {
    "the token of the profile \(target.profile) for \(target.url) "
      + (isThere ? "was replaced" : "stays: there is no other")
  }

  /// The words for an address without a target, as the end of a sentence.
  static var notConfigured: String { "is not a configured target" }

  /// The target of the first of several addresses that has one; nil where none of them has.
  ///
  /// - Throws: a failure of the broker.
  mutating func target(ofFirst addresses: [String]) throws(CommandFailure) -> Target? {
    try Self.first(of: addresses) { address throws(CommandFailure) in try target(of: address) }
  }

  /// The token of the first of several addresses that has a target; nil where none of them has one.
  ///
  /// - Throws: as ``token(for:)``.
  mutating func grant(
    forFirst addresses: [String], insteadOf refused: String? = nil, where isMeant: (Target) -> Bool = { _ in true }
  ) throws(CommandFailure) -> Grant? {
    try Self.first(of: addresses) { address throws(CommandFailure) in
      try grant(for: address, insteadOf: refused, where: isMeant)
    }
  }

  /// Whether a failure about an address may be another profile's.
  static func mayBeAnothers(_ failure: CommandFailure) -> Bool { failure.error?.mayBeAnotherProfiles == true }

  /// Tries addresses in their order.
  ///
  /// Tools hand over words that need not be addresses; such a word has no target.
  private static func first<Found>(
    of addresses: [String], _ find: (String) throws(CommandFailure) -> Found?
  ) throws(CommandFailure) -> Found? {
    for address in addresses {
      do throws(CommandFailure) {
        if let found = try find(address) { return found }
      } catch {
        guard error.error?.kind == .invalidParams else { throw error }
      }
    }
    return nil
  }
}

extension Target {
  /// The target of a token; nil where the answer has none, or one that is not for the requested address.
  init?(_ granted: GrantedTarget?, of profile: ProfileName, for address: String) {
    guard let granted, granted.covers(address) else { return nil }
    self.init(url: granted.prefix, profile: profile, username: granted.username, scheme: granted.scheme)
  }
}
