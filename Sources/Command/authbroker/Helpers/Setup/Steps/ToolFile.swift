import LinuxSystem

/// A tool's own file of the user's: read whole, and replaced whole, with the permissions that it had.
struct ToolFile: Sendable {
  /// Longer files are not the tool's configuration.
  private static let longest = 4 << 20

  /// How long another process may take to change its file.
  private static let patience = Duration.seconds(10)

  /// The path as the tool knows it.
  let path: String

  /// Reads the file; nil where there is none.
  ///
  /// - Throws: a failure with what open(2) says, and for what is no file or too long.
  func read() throws(CommandFailure) -> [UInt8]? {
    let bytes: [UInt8]?
    do throws(Errno) {
      // A FIFO is opened without waiting for its other end, and not read.
      let file = try FileDescriptor.open(path, [.read, .nonBlocking])
      bytes = try file.status().kind == .regular ? file.contents(limit: Self.longest + 1) : nil
    } catch {
      guard error == .noEntry else { throw CommandFailure(.failure, "\(path.shellQuoted) cannot be read: \(error)") }
      return nil
    }
    guard let bytes else { throw notAFile }
    guard bytes.count <= Self.longest else { throw CommandFailure(.failure, "\(path.shellQuoted) is too long") }
    return bytes
  }

  /// Reads and changes it while no other process of this program does, so that neither loses the other's entry.
  ///
  /// The directory of the file is locked, where its file system has locks.
  ///
  /// - Parameters:
  ///   - makesDirectory: whether a directory that is missing is made.
  ///   - body: what is done meanwhile.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, and a failure where another process does not come to an end.
  func exclusively<Value>(
    makingDirectory makesDirectory: Bool, _ body: () throws(CommandFailure) -> Value
  ) throws(CommandFailure) -> Value {
    let real = (try? SymbolicLink.resolved(path)) ?? path
    let directory = PathName.directory(of: real)
    if makesDirectory {
      try Self.expectTrustedDirectory(of: real)
      try? DirectoryEntry.makeDirectories(directory)
    }
    let lock: DirectoryLock
    do throws(Errno) { lock = try DirectoryLock(directory, waitingAtMost: Self.patience) } catch {
      // What keeps the directory from being opened is told where the file is read or written.
      guard error == .again else { return try body() }
      throw CommandFailure(.failure, "another program is changing \(path.shellQuoted); try again when it has ended")
    }
    let result = Result { () throws(CommandFailure) in try body() }
    lock.release()
    return try result.get()
  }

  /// Refuses what another program would wait at, or read without an end, before one is made to read it: a FIFO, a
  /// terminal.
  ///
  /// - Throws: a failure that names it.
  func expectReadable() throws(CommandFailure) {
    guard let status = try? FileStatus.following(path), status.kind != .regular, path != "/dev/null" else { return }
    throw notAFile
  }

  /// Refuses a directory of another user's that every user can write to: what is put there is theirs to exchange.
  ///
  /// - Parameter path: where something is to be put; of a directory that is missing, the one that it is to be made in.
  /// - Throws: a failure that says so.
  static func expectTrustedDirectory(of path: String) throws(CommandFailure) {
    var directory = PathName.directory(of: path)
    while directory != "/", (try? FileStatus.following(directory)) == nil {
      directory = PathName.directory(of: directory)
    }
    guard let status = try? FileStatus.following(directory), status.owner != ProcessIdentity.user,
      let objection = WriteTrust.current.objection(to: directory, status)
    else { return }
    throw CommandFailure(.failure, objection.description(of: directory))
  }

  private var notAFile: CommandFailure { CommandFailure(.failure, "\(path.shellQuoted) is not a regular file") }

  /// Refuses a file that is another user's, or in a directory that others can write to, or that its owner may not
  /// write: a rename could replace it all the same, against the owner's wish.
  ///
  /// - Throws: a failure that says so.
  func expectWritable() throws(CommandFailure) {
    guard let real = try? SymbolicLink.resolved(path) else { return }
    try Self.expectTrustedDirectory(of: real)
    guard let status = try? FileStatus.following(real) else { return }
    guard status.kind == .regular else { throw notAFile }
    guard status.owner == ProcessIdentity.user else {
      throw CommandFailure(.failure, "\(path.shellQuoted) belongs to user \(status.owner), not to you")
    }
    guard status.permissions & 0o200 == 0 else { return }
    throw CommandFailure(.failure, "\(path.shellQuoted) is read-only (chmod u+w lets it be changed)")
  }

  /// Replaces it; a reader sees the old one or this one.
  ///
  /// Where the path is a link, the file behind it, and behind every further link, is replaced.
  ///
  /// - Throws: a failure with what the kernel says, and for a file that is read-only; the old one is left then.
  func write(_ bytes: [UInt8]) throws(CommandFailure) {
    try expectWritable()
    do throws(Errno) {
      // A file behind a link is often kept in a repository of such files.
      let real = try SymbolicLink.resolved(path)
      let permissions = (try? FileStatus.following(real))?.permissions
      try DirectoryEntry.makeDirectories(PathName.directory(of: real))
      try PendingFile(real, bytes.span, permissions: permissions).put(replacing: true)
    } catch {
      throw CommandFailure(.failure, "\(path.shellQuoted) cannot be written: \(error)")
    }
  }

  /// Removes it, where nothing is left in it; a link stays.
  ///
  /// - Throws: a failure with what unlink(2) says.
  func remove() throws(CommandFailure) {
    guard (try? FileStatus.ofLink(path))?.kind == .regular else { return try write([]) }
    try expectWritable()
    do throws(Errno) { try DirectoryEntry.remove(path) } catch {
      throw CommandFailure(.failure, "\(path.shellQuoted) cannot be removed: \(error)")
    }
  }
}
