package import BrokerProtocol

/// What an open vault is needed for, and how it is examined.
extension Broker {
  /// Refuses what needs an open vault.
  ///
  /// - Throws: `vaultLocked`.
  func requireUnlocked() throws(BrokerError) {
    guard vault.isOpen else { throw BrokerError(.vaultLocked) }
  }

  /// Where the vault stands for clients.
  package var vaultStatus: GetStatus.VaultStatus {
    let status = vault.status
    return GetStatus.VaultStatus(
      locked: !vault.isOpen, keySource: status.keySource.rawValue, schemaVersion: status.schemaVersion,
      isInitialized: status.isInitialized, noticesRollback: status.noticesRollback)
  }

  /// Looks whether the vault holds what the broker wrote.
  package func checkVault(_ params: CheckVault.Params, _ caller: Caller<CheckVault.Result>) {
    let store = self.store
    inBackground {
      do throws(StoreFailure) {
        let findings = try await store.check(isFull: params.isFull)
        return { $0.answer(caller, CheckVault.Result(findings: findings)) }
      } catch {
        return { $0.refuse(caller.id, BrokerError(error)) }
      }
    }
  }
}
