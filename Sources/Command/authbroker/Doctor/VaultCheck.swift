import BrokerProtocol
import StateDirectory

/// Checks the vault by the broker's answers: the key, and whether everything in it is intact.
enum VaultCheck: DoctorCheck {
  static let title = "Vault"

  static func findings(_ installation: Installation) -> [DoctorFinding] {
    guard let vault = installation.report.status?.vault else { return [] }
    let source = PlainText.line(vault.keySource.utf8)
    var findings = [DoctorFinding("vault.keySource", "key source", .ok, source), state(vault)]
    findings += integrity(installation.report).filter { !isSettled($0, installation) }
    findings += [configured(installation, findings)].compactMap { $0 }
    // Not where the check said more about it already.
    let told = [VaultFinding.Kind.rollbackUnnoticed, .rolledBack].map { "vault.\($0.rawValue)" }
    guard !vault.locked, !findings.contains(where: { told.contains($0.check) }) else { return findings }
    let rollback =
      vault.noticesRollback
      ? "an older copy in its place would be noticed" : "an older copy in its place would not be noticed"
    findings.append(DoctorFinding("vault.rollback", "rollback", vault.noticesRollback ? .ok : .note, rollback))
    return findings
  }

  /// Whether the configuration names the vault's present key source since the broker read it: there is nothing left to
  /// do, and a rekey by the broker's configuration would undo it.
  private static func isSettled(_ finding: DoctorFinding, _ installation: Installation) -> Bool {
    finding.check == "vault.\(VaultFinding.Kind.keySourceDiffers.rawValue)"
      && installation.usedVerdict?.keySource?.rawValue == installation.report.status?.vault.keySource
  }

  /// A source that the configuration names since the broker read it, and that the broker cannot tell of therefore.
  private static func configured(_ installation: Installation, _ findings: [DoctorFinding]) -> DoctorFinding? {
    let check = "vault.\(VaultFinding.Kind.keySourceDiffers.rawValue)"
    guard let vault = installation.report.status?.vault, !vault.locked,
      !findings.contains(where: { $0.check == check }),
      let source = installation.usedVerdict?.keySource, source.rawValue != vault.keySource
    else { return nil }
    return DoctorFinding(
      check, "key source", .warning, "the configuration names \(source.rawValue) since this broker was started",
      next: NextCommand("rekey after", "stop"))
  }

  private static func state(_ vault: GetStatus.VaultStatus) -> DoctorFinding {
    guard vault.isInitialized else {
      let isPassphrase = vault.keySource == KeySourceName.passphrase.rawValue
      let (message, lead) =
        isPassphrase
        ? ("it is new and waits for its first passphrase", "choose one with")
        : ("it is new, and the source of its key has given none yet", "see why with")
      return DoctorFinding("vault.state", "state", .error, message, next: NextCommand(lead, "unlock")).aboutVault()
    }
    guard !vault.locked else {
      let next = NextCommand("unlock it with", "unlock")
      return DoctorFinding("vault.state", "state", .error, "it is locked, so no client gets a token", next: next)
        .aboutVault()
    }
    return DoctorFinding("vault.state", "state", .ok, "open, schema \(vault.schemaVersion)")
  }

  private static func integrity(_ report: OwnerReport) -> [DoctorFinding] {
    if let failure = report.vaultCheckFailure {
      guard failure.error?.kind != .methodNotFound else {
        return [DoctorFinding("vault.integrity", "integrity", .warning, OwnerCheck.tooOld)]
      }
      var finding = DoctorFinding(
        "vault.integrity", "integrity", .error, failure.message.behind("the vault could not be checked: "))
      if failure.exitCode == .vault { finding = finding.aboutVault() }
      return [finding]
    }
    guard let result = report.vaultCheck else { return [] }
    let findings = result.findings.map(translated)
    guard result.isOK else { return findings }
    let scope = report.isFullCheck ? "sealed value" : "session"
    let message = "the database's structure and every \(scope) are intact"
    return [DoctorFinding("vault.integrity", "integrity", .ok, message)] + findings
  }

  /// A finding of the broker's, without a command: of two sources that differ only the user knows which one is meant,
  /// and a rekey could undo what they have just chosen.
  private static func translated(_ finding: VaultFinding) -> DoctorFinding {
    let kind = VaultFinding.Kind(rawValue: finding.kind)
    var own = DoctorFinding(
      "vault.\(PlainText.line(finding.kind.utf8))", label(kind), finding.isError ? .error : .warning,
      BrokerSentence.plain(finding.message))
    own.profile = finding.profile?.description
    switch kind {
    case .clockSetBack, .keySourceDiffers, .memoryUnlocked, .auditTampered, .auditGap: break
    // A kind that is not known yet is one of the vault's as well.
    case .databaseDamaged, .tampered, .rolledBack, .rollbackUnnoticed, nil: own = own.aboutVault()
    }
    return own
  }

  private static func label(_ kind: VaultFinding.Kind?) -> String {
    switch kind {
    case .databaseDamaged: "database"
    case .tampered: "sealed values"
    case .rolledBack, .rollbackUnnoticed: "rollback"
    case .clockSetBack: "clock"
    case .keySourceDiffers: "key source"
    case .memoryUnlocked: "locked memory"
    case .auditTampered, .auditGap: "audit"
    case nil: "vault"
    }
  }
}
