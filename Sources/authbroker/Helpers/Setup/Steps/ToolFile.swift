import LinuxSystem

/// A tool's own file of the user's: read whole, and replaced whole, with the permissions that it had.
struct ToolFile: Sendable {
  /// Longer files are not the tool's configuration.
  private static let longest = 4 << 20

  /// The path as the tool knows it.
  let path: String

  /// What it holds; nil where there is none.
  ///
  /// - Throws: a failure with what open(2) says, and for a file that is too long.
  func read() throws(CommandFailure) -> [UInt8]? {
    let bytes: [UInt8]
    do throws(Errno) { bytes = try FileDescriptor.open(path, .read).contents(limit: Self.longest + 1) } catch {
      guard error == .noEntry else { throw CommandFailure(.failure, "\(path.shellQuoted) cannot be read: \(error)") }
      return nil
    }
    guard bytes.count <= Self.longest else { throw CommandFailure(.failure, "\(path.shellQuoted) is too long") }
    return bytes
  }

  /// Replaces it; a reader sees the old one or this one.
  ///
  /// Where the path is a link, the file behind it, and behind every further link, is replaced.
  ///
  /// - Throws: a failure with what the kernel says; the old one is left then.
  func write(_ bytes: [UInt8]) throws(CommandFailure) {
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
    do throws(Errno) { try DirectoryEntry.remove(path) } catch {
      throw CommandFailure(.failure, "\(path.shellQuoted) cannot be removed: \(error)")
    }
  }
}
