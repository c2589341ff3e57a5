import BrokerCore
import LinuxSystem

/// What happens to the vault's file behind the vault's back.
extension Vault {
  /// Refuses an empty file in the place of a vault of which something else says that it held something: its log, its
  /// reserve, its anchor, or the list of those who open by its key.
  ///
  /// SQLite would take it for a new database, and remove the log. A file that is not there at all is another matter: to
  /// remove it is how a person begins anew.
  ///
  /// - Throws: `VaultError.damaged`; nothing was changed then.
  func refuseEmptiedFile() throws(VaultError) {
    let status: FileStatus
    do throws(Errno) { status = try FileStatus.ofLink(path) } catch {
      // What the removed vault has left beside it must not speak for the next one.
      if error == .noEntry { reserve.release() }
      return
    }
    guard status.kind == .regular, status.size == 0 else { return }
    let hasLog = (try? FileStatus.ofLink(path + "-wal"))?.size ?? 0 > 0
    let wasUsed = keyFileUsers?.hasNoted ?? false
    guard hasLog || reserve.isTaken || wasUsed || anchorPath.map(AnchorFile.isWritten) ?? false else { return }
    throw .damaged(part: "its file is empty, but held something")
  }

  /// Whether the file that the connection has open still is the one that has the vault's name.
  ///
  /// A file that was removed or replaced would take changes that nobody ever reads again. As long as it is open, no other
  /// file can have its inode, so one question a change is enough.
  var isFileInPlace: Bool {
    guard let fileIdentity else { return true }
    do throws(Errno) {
      return try FileStatus.ofLink(path).identity == fileIdentity
    } catch {
      // What cannot be looked at is not known to be gone.
      return error != .noEntry
    }
  }

  /// Lets nothing be written into a file that is not the vault any more.
  ///
  /// - Throws: `StoreFailure.tampered` without a profile.
  func requireFileInPlace() throws(StoreFailure) {
    guard !isFileInPlace else { return }
    contents?.suspicions.insert(.fileReplaced)
    throw .tampered(profile: nil)
  }
}
