import BrokerProtocol

/// A flaw of the vault as a whole, found when it was unlocked: known until it is locked, while the vault itself is put
/// in order by the next change.
enum VaultSuspicion: Hashable, CaseIterable {
  /// The head is missing, or is not what was written, or is an older one.
  case head
  /// A part of the list of rows is missing, or is not what was written, or is an older one.
  case manifest
  /// A value of the vault itself is missing or is not what was written.
  case metadata
  /// A row has a name that no profile has.
  case foreignRow
  /// A queued request is missing, or is not what was written: it is not sent.
  case request
  /// Events are missing or were added.
  case events
  /// The sequence that stands in the clear is none that was given.
  case sequence
  /// The file was removed, or another one is in its place, while the vault was open.
  case fileReplaced
  /// The anchor knows of changes that the vault does not.
  case rolledBack
  /// The anchor is that of another vault.
  case anchorForeign
  /// There was an anchor, and it is gone or damaged.
  case anchorMissing
  /// The vault's file was gone, and only that: this vault is new.
  case fileGone
  /// All files of a vault that was here before were gone, as after a person moved them away: this vault is new.
  case movedAway

  /// Whether the vault may have been tampered with; the others only weaken what can be noticed, or are for information.
  var isAlarm: Bool { self != .anchorMissing && self != .movedAway }

  /// The finding for the administrator.
  var finding: VaultFinding {
    switch self {
    case .head: Self.tampered("The vault's index has been modified")
    case .manifest: Self.tampered("The vault's list of records has been modified")
    case .metadata: Self.tampered("The vault's metadata has been modified")
    case .foreignRow: Self.tampered("The vault has a row that belongs to no profile")
    case .request:
      VaultFinding(
        .tampered, isError: true,
        "A queued request in the vault has been modified, and is not sent; restore the vault from a backup, or queue it again."
      )
    case .events: Self.tampered("The vault's events are not what the broker wrote")
    case .sequence: Self.tampered("The vault's event sequence has been modified")
    case .fileReplaced:
      VaultFinding(
        .tampered, isError: true,
        "The vault's file was removed or replaced while it was in use, so nothing is saved any more; put it back in "
          + "place, or stop the broker, and log in again if in doubt.")
    case .rolledBack:
      VaultFinding(
        .rolledBack, isError: true,
        "The vault is older than its anchor: it was rolled back to an earlier copy; log in again if in doubt.")
    case .anchorMissing:
      VaultFinding(
        .rollbackUnnoticed, isError: false,
        "The vault's anchor is missing or damaged, so a rollback of the vault could not be detected; a new "
          + "one was made.")
    case .anchorForeign:
      VaultFinding(
        .rolledBack, isError: true,
        "The vault's anchor belongs to another vault: one of the two was replaced; log in again if in doubt.")
    case .fileGone:
      VaultFinding(
        .rolledBack, isError: true,
        "The vault's file was missing, and a new vault was created; if you did not remove it, restore it from a backup."
      )
    case .movedAway:
      VaultFinding(
        .rolledBack, isError: false,
        "The files of an earlier vault are missing, and this vault is new. If you did not move them away, restore "
          + "them from a backup.")
    }
  }

  private static func tampered(_ what: String) -> VaultFinding {
    VaultFinding(.tampered, isError: true, what + "; restore it from a backup, or log in again if in doubt.")
  }
}
