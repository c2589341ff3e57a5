package import BrokerProtocol

/// What an open vault is needed for, and how it is looked at.
extension Broker {
  /// Refuses what needs an open vault.
  ///
  /// - Throws: `vaultLocked`.
  func requireUnlocked() throws(BrokerError) {
    guard vault.isOpen else { throw BrokerError(.vaultLocked) }
  }

  /// A reply that tells nothing but that the vault is locked, if it is by then.
  func unlessLocked<Value>(_ reply: @escaping Reply<Value>) -> Reply<Value> {
    { [weak self] result in
      let isOpen = self?.assumeIsolated { $0.vault.isOpen } ?? false
      reply(isOpen ? result : .failure(BrokerError(.vaultLocked)))
    }
  }

  /// Where the vault stands for clients.
  package var vaultStatus: GetStatus.VaultStatus {
    let status = vault.status
    return GetStatus.VaultStatus(
      locked: !vault.isOpen, keySource: status.keySource.rawValue, schemaVersion: status.schemaVersion,
      isInitialized: status.isInitialized, noticesRollback: status.noticesRollback)
  }

  /// Looks whether the vault holds what the broker wrote.
  package func checkVault(_ params: CheckVault.Params, _ reply: @escaping Reply<CheckVault.Result>) {
    do throws(BrokerError) {
      try requireUnlocked()
    } catch {
      return reply(.failure(error))
    }
    let keeper = self.keeper
    inBackground {
      do throws(StoreFailure) {
        let findings = try await keeper.check(isFull: params.isFull)
        return { _ in reply(.success(CheckVault.Result(findings: findings))) }
      } catch {
        return { _ in reply(.failure(BrokerError(error))) }
      }
    }
  }
}
