import LinuxSystem
import Records

/// The files around a vault's file that show that the vault held something: an empty vault file beside them is damaged,
/// not new.
struct VaultTraces {
  /// The database.
  let path: String
  /// The room that is kept since the vault was first opened.
  let reserve: ReserveFile
  /// The list of vaults that the key file opens; nil where there is none.
  let keyFileUsers: KeyFileUsers?
  /// The path of the anchor; nil for none.
  let anchorPath: String?

  /// Whether there is a log with something in it.
  ///
  /// What cannot be examined may well hold something. A journal tells nothing: there is one only while the first page of
  /// a new file is written, and a process that ends then leaves it beside an empty file.
  var hasLog: Bool {
    do throws(Errno) { return try FileStatus.ofLink(path + "-wal").size > 0 } catch { return error != .noEntry }
  }

  /// Whether a vault was opened here before, whatever its log says: a process that ended while it made one leaves none
  /// of these.
  var areThere: Bool {
    reserve.isTaken || keyFileUsers?.hasNoted ?? false || anchorPath.map(AnchorFile.isWritten) ?? false
  }

  /// Removes what a vault that was moved away has left: it must not speak for the next one.
  func remove() {
    reserve.release()
    keyFileUsers?.forget()
    if let anchorPath { try? DirectoryEntry.remove(anchorPath) }
  }
}
