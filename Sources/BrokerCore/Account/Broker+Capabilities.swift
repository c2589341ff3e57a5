import BrokerProtocol

/// How a request gets the provider that it needs.
extension Broker {
  /// Gives the profile that a request means, and what its provider must be able to do for it.
  ///
  /// - Throws: `vaultLocked`, `unknownProfile`, `unsupportedByProvider`.
  func slot<Capability>(
    for profile: ProfileName?, with path: CapabilityPath<Capability>
  ) throws(BrokerError) -> (slot: ProfileSlot, capability: Capability) {
    try requireUnlocked()
    let slot = try slot(for: profile)
    return (slot, try require(path, of: slot))
  }

  /// Gives a capability of a profile's provider.
  ///
  /// - Throws: `unsupportedByProvider`.
  func require<Capability>(
    _ path: CapabilityPath<Capability>, of slot: ProfileSlot
  ) throws(BrokerError) -> Capability {
    do throws(ProviderFailure) {
      return try slot.provider.require(path)
    } catch {
      throw BrokerError(error, profile: slot.name)
    }
  }
}
