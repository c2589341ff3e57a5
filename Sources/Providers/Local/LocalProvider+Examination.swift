package import BrokerCore
package import BrokerProtocol
import LinuxSystem
import SQLite

/// The examination of the embedded provider.
extension LocalProvider {
  /// Whether its files open, where there are any: none are made.
  package func probe() -> ProviderProbe {
    guard (try? PrivateDirectory(directory, create: false)) != nil else { return .nothingToReach }
    do throws(ProviderFailure) {
      try respond(to: "probe") { _, _ in () }
      return .nothingToReach
    } catch {
      guard error == .misconfigured(.embeddedFiles), let fault else { return .nothingToReach }
      return .broken(error, advice: "\(fault.message) \(fault.advice)")
    }
  }

  /// The finding for an audit whose chain is broken.
  private static let brokenAudit = ProviderFinding(
    "audit", .failure, "Records of its audit in local-provider/db.sqlite were changed, added or removed.",
    advice: "Find out who can write to the state directory; the accounts may have been changed as well.")

  /// Opens the files, and checks that the database is sound, has an account, and its audit is whole.
  ///
  /// The audit may be long: it is verified in parts, between which other calls are answered.
  package nonisolated func examine() async -> [ProviderFinding] {
    let reachable = ProviderFinding("reachable", .ok, "it is part of the broker: no network in between")
    do throws(ProviderFailure) {
      let isEmpty = try await examineDatabase()
      let isIntact = try await verifyAudit()
      let accounts =
        isEmpty
        ? ProviderFinding("accounts", .note, "No account exists yet.", advice: "Register one.")
        : ProviderFinding("accounts", .ok, "there are accounts")
      let files = ProviderFinding("files", .ok, "its files open, and its database is sound")
      return [reachable, files, accounts] + (isIntact ? [] : [Self.brokenAudit])
    } catch {
      if error == .misconfigured(.embeddedFiles), let fault = await fault {
        return [
          reachable,
          ProviderFinding("files", .failure, fault.message, advice: fault.advice, errorKind: error.kind),
        ]
      }
      return [
        reachable,
        ProviderFinding(
          "files", .failure, "Its files in local-provider/ of the state directory cannot be used, or are damaged.",
          advice: "Check their owner and mode and the free disk space, or restore them from a backup.",
          errorKind: error.kind),
      ]
    }
  }

  /// Checks that the database is sound.
  ///
  /// - Returns: whether it has no account.
  private func examineDatabase() throws(ProviderFailure) -> Bool {
    try respond(to: "examine") { database, _ in
      try database.connection.checkIntegrity(.quick)
      return try database.accounts.isEmpty()
    }
  }
}
