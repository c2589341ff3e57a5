import CLinux

/// A descriptor that this value owns: it is closed exactly once, when the value ends.
///
/// Everything this package opens has close-on-exec set from its first moment.
@usableFromInline
package struct FileDescriptor: ~Copyable, Sendable {
  /// The kernel's number.
  ///
  /// It must not outlive the value.
  @usableFromInline package private(set) var number: Int32

  /// Takes over a descriptor that nothing else closes.
  package init(owning number: Int32) {
    self.number = number
  }

  @inlinable
  deinit {
    FileDescriptor.end(number)
  }

  /// Closes the descriptor unless it was given away.
  @usableFromInline
  static func end(_ number: Int32) { if number >= 0 { clinux_close(number) } }

  /// Gives the descriptor away without closing it.
  package consuming func release() -> Int32 {
    // Not `discard self`, which Embedded Swift has for frozen types alone.
    let number = self.number
    self.number = -1
    return number
  }

  /// Closes now instead of at the end of the scope.
  package consuming func close() {}

  /// The mode in which a file is opened.
  package struct OpenMode: OptionSet, Sendable {
    /// The flags of open(2).
    package let rawValue: Int32

    /// Wraps flags of open(2).
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// For reading.
    package static let read = OpenMode(rawValue: O_RDONLY)
    /// For writing.
    package static let write = OpenMode(rawValue: O_WRONLY)
    /// For both.
    package static let readWrite = OpenMode(rawValue: O_RDWR)
    /// Made if it is missing, for the owner alone (0600).
    package static let create = OpenMode(rawValue: O_CREAT)
    /// Refused if it exists; only together with `create`.
    package static let exclusive = OpenMode(rawValue: O_EXCL)
    /// Every write goes to the end.
    package static let append = OpenMode(rawValue: O_APPEND)
    /// Emptied.
    package static let truncate = OpenMode(rawValue: O_TRUNC)
    /// Refused if the last component is a symbolic link.
    package static let noFollow = OpenMode(rawValue: O_NOFOLLOW)
    /// Refused unless it is a directory.
    package static let directory = OpenMode(rawValue: O_DIRECTORY)
    /// Reads and writes do not wait.
    package static let nonBlocking = OpenMode(rawValue: O_NONBLOCK)
    /// Does not become the controlling terminal.
    package static let noControllingTerminal = OpenMode(rawValue: O_NOCTTY)
  }

  /// Opens a file, with close-on-exec; a file that is made gets mode 0600.
  ///
  /// - Throws: what open(2) says.
  package static func open(_ path: String, _ mode: OpenMode) throws(Errno) -> FileDescriptor {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    FileDescriptor(owning: try Errno.check(unsafe clinux_open(path, mode.rawValue, 0o600)))
  }

  /// A second descriptor of the same open file, with close-on-exec, numbered `lowest` or above.
  package func duplicate(atLeast lowest: Int32 = 3) throws(Errno) -> FileDescriptor {
    FileDescriptor(owning: try Errno.check(clinux_duplicate(number, lowest)))
  }

  /// Makes descriptor `target` another name of this open file, without close-on-exec.
  package func replace(_ target: Int32) throws(Errno) {
    _ = try Errno.check(clinux_duplicate_onto(number, target))
  }

  /// Sets `O_NONBLOCK`: on the open file itself, so for every process that shares it.
  package func setNonBlocking() throws(Errno) {
    _ = try Errno.check(clinux_add_flags(number, 1, 0))
  }

  /// Sets close-on-exec.
  package func setCloseOnExec() throws(Errno) {
    _ = try Errno.check(clinux_add_flags(number, 0, 1))
  }

  /// Type, mode, owner and identity of the open file.
  package func status() throws(Errno) -> FileStatus {
    try FileStatus(clinux_fstat(number))
  }

  /// Gives the open file other permissions (fchmod(2)).
  package func setPermissions(_ permissions: UInt32) throws(Errno) {
    _ = try Errno.check(clinux_result(fchmod(number, permissions)))
  }

  /// Waits until what was written has reached the disk (fsync(2)).
  package func synchronize() throws(Errno) {
    _ = try Errno.check(clinux_result(fsync(number)))
  }

  /// Cuts or extends the file to `size` bytes.
  package func truncate(to size: Int64 = 0) throws(Errno) {
    _ = try Errno.check(clinux_truncate(number, size))
  }

  /// Ends the sending direction of a socket; the peer reads the end of the stream.
  package func finishSending() throws(Errno) {
    _ = try Errno.check(clinux_result(shutdown(number, Int32(SHUT_WR))))
  }

  /// The two ends of a new pipe: what is written to `writeEnd` is read from `readEnd`.
  package struct Pipe: ~Copyable {
    /// The end that is read.
    package let readEnd: FileDescriptor
    /// The end that is written.
    package let writeEnd: FileDescriptor

    /// Gives both ends away.
    package consuming func ends<R: ~Copyable, E: Error>(
      _ body: (consuming FileDescriptor, consuming FileDescriptor) throws(E) -> R
    ) throws(E) -> R {
      try body(readEnd, writeEnd)
    }
  }

  /// Makes a pipe; both ends have close-on-exec.
  package static func pipe(nonBlocking: Bool = false) throws(Errno) -> Pipe {
    let pair = clinux_pipe(nonBlocking ? 1 : 0)
    guard pair.error == 0 else { throw Errno(code: pair.error) }
    return Pipe(readEnd: FileDescriptor(owning: pair.first), writeEnd: FileDescriptor(owning: pair.second))
  }
}
