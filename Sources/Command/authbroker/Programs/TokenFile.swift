import LinuxSystem

/// A file that holds a token and nothing else, for programs that read their token from a file.
///
/// It is written whole under another name and renamed (rename(2)), with mode 0600 and without an end of line: its readers
/// do not strip. As long as the value lives, no other process of this program keeps the same file.
struct TokenFile: ~Copyable {
  /// Longer than any token: what is longer is another file.
  private static let longest = 64 * 1024
  /// The end of its name while it is written: the same one for every process, so that the next one removes it.
  private static let mark = "new"
  /// How long another process may take to end that was told to.
  private static let patience = Duration.milliseconds(200)

  /// The absolute path.
  let path: String
  private let lock: FileLock
  private var identity: FileStatus.Identity?

  /// Takes the file over; it is not written yet.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - isShared: whether other users may exchange the file; they never can read it.
  /// - Throws: a failure where others could exchange the file, where it is something else than a token file, and where
  ///   another process keeps it.
  init(_ path: String, isShared: Bool = false) throws(CommandFailure) {
    let directory = PathName.directory(of: path)
    let name = String(path.utf8.dropFirst(directory == "/" ? 1 : directory.utf8.count + 1)) ?? ""
    guard !name.isEmpty else { throw CommandFailure(.failure, "\(path.shellQuoted) is a directory; name a file") }
    do throws(PrivateDirectory.Refusal) { try PrivateDirectory.checkWay(to: directory) } catch {
      guard case .unsafeParent(_, let objection) = error else {
        throw CommandFailure(.failure, BrokerSentence.plain(error.description))
      }
      guard isShared else {
        let hint = "--shared-directory writes there all the same: others can exchange the file, and never read it"
        throw CommandFailure(.failure, "\(objection.description(of: error.path)); \(hint)")
      }
    }
    let lock = try Self.locked("\(directory)/.\(name).lock")
    do throws(CommandFailure) { try Self.check(path) } catch {
      try? DirectoryEntry.remove(lock.path)
      throw error
    }
    self.path = path
    self.lock = lock
    // Left over from a process that was killed in between; the lock says that it has ended.
    try? DirectoryEntry.remove(PendingFile.temporaryPath(of: path, mark: Self.mark))
  }

  private static func locked(_ path: String) throws(CommandFailure) -> FileLock {
    do throws(FileLock.Refusal) { return try FileLock(path, waitingAtMost: patience) } catch {
      guard case .held = error else { throw CommandFailure(.failure, BrokerSentence.plain(error.description)) }
      let holder = FileLock.holder(of: path).map { " (pid \($0))" } ?? ""
      throw CommandFailure(
        .failure, "another authbroker\(holder) keeps this file; end it first, or choose another path")
    }
  }

  /// Refuses what is there already and cannot be a token file: a link, something of another user, a text.
  ///
  /// A file that this program wrote has mode 0600 and one word without an end of line; an empty one may be replaced too.
  private static func check(_ path: String) throws(CommandFailure) {
    let status: FileStatus
    do throws(Errno) { status = try FileStatus.ofLink(path) } catch {
      guard error == .noEntry else { throw CommandFailure(.failure, "\(path.shellQuoted) cannot be used: \(error)") }
      return
    }
    let shown = path.shellQuoted
    guard status.kind != .symbolicLink else {
      throw CommandFailure(.failure, "\(shown) is a symbolic link, which is not followed; name the file itself")
    }
    guard status.kind == .regular, status.owner == ProcessIdentity.user else {
      throw CommandFailure(.failure, "\(shown) is not a regular file of yours; choose another path")
    }
    let content = try? FileDescriptor.open(path, [.read, .noFollow]).contents(limit: longest + 1)
    let isWord = content?.allSatisfy { (0x21...0x7E).contains($0) } ?? false
    guard let content, content.count <= longest, content.isEmpty || (isWord && status.permissions == 0o600) else {
      throw CommandFailure(
        .failure, "\(shown) is not a token file of authbroker (one word, mode 0600); remove it, or choose another path")
    }
  }

  /// Writes the token; a reader sees the old one or this one.
  ///
  /// - Throws: a failure with what open(2), write(2), fsync(2) or rename(2) says; the old one is left then.
  mutating func write(_ token: Span<UInt8>) throws(CommandFailure) {
    do throws(Errno) {
      let pending = try Self.pending(path, token)
      let identity = pending.identity
      try pending.put(replacing: true)
      self.identity = identity
    } catch {
      throw CommandFailure(.failure, "\(path.shellQuoted) cannot be written: \(error)")
    }
  }

  /// The file under its usual name; under a random one where another user has put something in that place, as anyone
  /// can in a shared directory.
  private static func pending(_ path: String, _ token: Span<UInt8>) throws(Errno) -> PendingFile {
    do throws(Errno) { return try PendingFile(path, token, mark: mark) } catch {
      guard error == .exists else { throw error }
      return try PendingFile(path, token)
    }
  }

  /// Whether the file is the one that was written.
  var isInPlace: Bool { identity != nil && (try? FileStatus.ofLink(path))?.identity == identity }

  /// Removes the file where it is the one that was written, or one that was there at the start.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  mutating func remove() -> Bool {
    guard let status = try? FileStatus.ofLink(path), status.kind == .regular,
      identity == nil || status.identity == identity
    else { return false }
    return (try? DirectoryEntry.remove(path)) != nil
  }

  /// Gives the file up: another process may keep it.
  consuming func release() {
    // While the lock is held: a process that has opened the file already sees that it has lost its name.
    try? DirectoryEntry.remove(lock.path)
  }
}
