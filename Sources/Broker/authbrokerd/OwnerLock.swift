import LinuxSystem
import StateDirectory

/// The lock that makes this process the one owner of its state directory, and the record that tells clients so.
struct OwnerLock: ~Copyable, Sendable {
  private let lock: FileLock

  /// Makes the state directory if it is missing, and takes the lock.
  ///
  /// - Throws: ``StartFailure`` of kind `owned` that names the owner, or one that names what is wrong with a path.
  init(_ paths: StatePaths) throws(StartFailure) {
    do throws(PrivateDirectory.Refusal) {
      _ = try PrivateDirectory(paths.state, create: true)
    } catch {
      throw StartFailure(kind: .pathRefused, message: "\(error)")
    }
    let lock = try Self.taken(paths)
    // An earlier owner's record names a process that is gone. A full disk has room when there is something to publish, or not.
    try? lock.replaceContents(
      with: OwnerRecord.beginning(
        pid: ProcessIdentity.pid, startTime: ProcessIdentity.startTime(of: ProcessIdentity.pid)))
    self.lock = lock
  }

  /// How long a client that asks whether the lock is held may have it shared.
  private static let lookTime = Duration.milliseconds(50)
  /// How long a child of an owner that was killed may have the lock: until its exec(2).
  private static let childTime = Duration.seconds(2)

  private static func taken(_ paths: StatePaths) throws(StartFailure) -> FileLock {
    let lock: FileLock
    do throws(FileLock.Refusal) { lock = try locked(paths.ownerLock) } catch {
      guard case .held = error else { throw StartFailure(kind: .pathRefused, message: error.description) }
      throw StartFailure(kind: .owned, message: describeOwner(paths))
    }
    if lock.hasOtherNames, let bytes = try? lock.contents(limit: OwnerRecord.longest), !OwnerRecord.isRecord(bytes) {
      throw StartFailure(
        kind: .pathRefused, message: "\(paths.ownerLock) is another file by a second name (hard link); remove this name"
      )
    }
    return lock
  }

  private static func locked(_ path: String) throws(FileLock.Refusal) -> FileLock {
    do throws(FileLock.Refusal) { return try FileLock(path, waitingAtMost: lookTime) } catch {
      guard case .held = error, isOwnerGone(path) else { throw error }
      return try FileLock(path, waitingAtMost: childTime)
    }
  }

  /// Whether the process that the record names is there no more.
  private static func isOwnerGone(_ path: String) -> Bool {
    guard let owner = OwnerRecord(at: path), let startTime = owner.startTime else { return false }
    return ProcessIdentity.startTime(of: owner.pid) != startTime
  }

  private static func describeOwner(_ paths: StatePaths) -> String {
    guard let owner = OwnerRecord(at: paths.ownerLock) else {
      return "another broker is starting on \(paths.state); try again"
    }
    return "the broker of \(paths.state) is already running (pid \(owner.pid), socket \(owner.socket));"
      + " use it, or stop it first"
  }

  /// Whether the state directory, or the lock in it, was removed, moved away or replaced: what is at its path belongs
  /// to whichever process makes it there.
  var isLeft: Bool { lock.isLeft }

  /// Listens on the socket, whose stale predecessor only the holder of the lock may remove.
  func listen(
    at path: String, _ sharing: UnixSocket.Sharing? = nil
  ) throws(UnixSocket.Refusal) -> UnixSocket.Listening {
    try UnixSocket.listen(at: path, holding: lock, sharing)
  }

  /// Tells clients where the owner is.
  func publish(_ record: OwnerRecord) throws(Errno) { try lock.replaceContents(with: record.encoded()) }

  /// Tells clients that there is no owner any more.
  func withdraw() { try? lock.replaceContents(with: []) }
}
