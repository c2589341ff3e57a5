import BrokerCore
import LinuxSystem

/// Changes of the vault's file by others.
extension Vault {
  /// Checks the files before SQLite does, which takes an empty one for a new database and removes its log.
  ///
  /// Where neither the file nor its log is there, a person has moved the vault away to start over. The remaining files
  /// of that vault are removed then, and `predecessor` reports it.
  func examineFiles() throws(VaultError) -> Bool {
    if let anchorPath { try AnchorFile.inspect(anchorPath) }
    predecessor = lossFile.loss
    let traces = VaultTraces(path: path, reserve: reserve, keyFileUsers: keyFileUsers, anchorPath: anchorPath)
    let status: FileStatus
    do throws(Errno) { status = try FileStatus.ofLink(path) } catch {
      // What cannot be examined cannot be opened either, and says why then.
      guard error == .noEntry else { return true }
      guard !traces.hasLog else { throw .damaged(part: "its file is missing, but its log exists") }
      if traces.areThere {
        let loss: VaultSuspicion = reserve.isTaken ? .fileGone : .movedAway
        predecessor = loss
        // Where that cannot be written the traces stay, and speak for themselves at the next start.
        guard lossFile.note(loss) else { return false }
      }
      traces.remove()
      return false
    }
    guard status.kind == .regular, status.size == 0 else { return traces.areThere }
    guard !traces.hasLog, !traces.areThere else { throw .damaged(part: "its file is empty, but had content before") }
    return false
  }

  /// Whether another vault was here before this new one, and no event has reported it.
  package var hasPredecessor: Bool { predecessor != nil }

  /// Whether the file that the connection has open still is the one at the vault's path.
  ///
  /// A file that was removed or replaced would take changes that are never read again. As long as it is open, no other
  /// file can have its inode, so one check a change is enough. A vault that was moved with its directory stays in
  /// place: a token that is rotated meanwhile goes into it, and the next broker finds it there.
  var isFileInPlace: Bool {
    guard let fileIdentity else { return true }
    do throws(Errno) {
      if try FileStatus.ofLink(path).identity == fileIdentity { return true }
    } catch {
      // What cannot be examined is not known to be gone.
      guard error == .noEntry else { return true }
    }
    guard let directory = fileDirectory?.number else { return false }
    return (try? FileStatus.ofLink(PathName.name(of: path), in: directory).identity) == fileIdentity
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
