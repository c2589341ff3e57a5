import CLinux

/// Small files of a private directory, each written as a whole.
extension PrivateDirectory {
  /// Writes a file (0600) so that a reader sees all of it or nothing: under another name first, then rename(2).
  ///
  /// It is not waited for the disk: a file that matters after a power failure belongs elsewhere.
  ///
  /// - Parameters:
  ///   - name: without a slash.
  ///   - bytes: all of it.
  /// - Throws: what open(2), write(2) or rename(2) says; nothing is left behind then.
  package func writeFile(_ name: String, _ bytes: Span<UInt8>) throws(Errno) {
    let temporary = "\(path)/.\(name).new"
    let mode: FileDescriptor.OpenMode = [.write, .create, .exclusive, .noFollow]
    // Left over from a process that ended in between.
    try removeFile(".\(name).new")
    do throws(Errno) {
      let descriptor = try FileDescriptor.open(temporary, mode)
      try descriptor.writeAll(bytes)
      // The strings are NUL-terminated for the length of the call, which does not keep them.
      _ = try Errno.check(unsafe clinux_rename(temporary, "\(path)/\(name)"))
    } catch {
      try? removeFile(".\(name).new")
      throw error
    }
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - name: without a slash.
  ///   - limit: how many bytes are read at most.
  /// - Returns: its beginning, or all of it; nil where there is none.
  /// - Throws: what open(2) or pread(2) says, for a symbolic link too.
  package func readFile(_ name: String, limit: Int) throws(Errno) -> [UInt8]? {
    do throws(Errno) {
      let file = try FileDescriptor.open("\(path)/\(name)", [.read, .noFollow])
      return try file.contents(limit: limit)
    } catch {
      guard error == .noEntry else { throw error }
      return nil
    }
  }

  /// Removes a file; one that is not there is no error.
  ///
  /// - Parameter name: without a slash.
  /// - Throws: what unlink(2) says.
  package func removeFile(_ name: String) throws(Errno) {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    let result = unsafe clinux_unlink("\(path)/\(name)")
    guard result < 0, Errno(code: -result) != .noEntry else { return }
    throw Errno(code: -result)
  }
  /// Waits until the names in it have reached the disk, and its own name and those above it too, where it may ask.
  ///
  /// A file in a directory that was made just now is lost with the directory's name (fsync(2)).
  ///
  /// - Throws: what fsync(2) says of the directory itself.
  package func synchronizeWithParents() throws(Errno) {
    try descriptor.synchronize()
    for parent in PrivateDirectory.parents(of: path) {
      // Those that this user may not open were not made just now.
      guard let directory = try? FileDescriptor.open(parent, [.read, .directory]) else { continue }
      try? directory.synchronize()
    }
  }
}
