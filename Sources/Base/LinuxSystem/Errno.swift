import CLinux

/// Why a system call failed: the number that errno(3) names.
package struct Errno: Error, Equatable, Hashable, Sendable, CustomStringConvertible {
  /// The positive error number.
  package let code: Int32

  /// Wraps an error number as the kernel gives it.
  package init(code: Int32) {
    self.code = code
  }

  /// The symbolic name, such as `ENOENT`; the number where there is none.
  package var name: String {
    // strerrorname_np(3) returns a constant, NUL-terminated string or NULL, for any number.
    guard let name = unsafe clinux_errno_name(code) else { return "errno \(code)" }
    // As above; the text is copied at once.
    return unsafe String(cString: name)
  }

  /// The text of strerror(3), in English whatever the locale.
  package var text: String {
    // strerrordesc_np(3) returns a constant, NUL-terminated string or NULL, for any number.
    guard let text = unsafe clinux_errno_text(code) else { return "Unknown error" }
    // As above; the text is copied at once.
    return unsafe String(cString: text)
  }

  /// For people: text and name.
  package var description: String { "\(text) (\(name))" }

  /// Operation not permitted; from `epoll_ctl`: a descriptor that is always ready.
  package static let notPermitted = Errno(code: EPERM)
  /// No such file or directory.
  package static let noEntry = Errno(code: ENOENT)
  /// There is no such process.
  package static let noProcess = Errno(code: ESRCH)
  /// No space left on device.
  package static let noSpace = Errno(code: ENOSPC)
  /// Disk quota exceeded.
  package static let quotaExceeded = Errno(code: EDQUOT)
  /// File exists.
  package static let exists = Errno(code: EEXIST)
  /// The call would block.
  package static let again = Errno(code: EAGAIN)
  /// Permission denied.
  package static let accessDenied = Errno(code: EACCES)
  /// Not a directory, or a symbolic link where none is followed.
  package static let notDirectory = Errno(code: ENOTDIR)
  /// The file has no format that the kernel executes.
  package static let noExecutableFormat = Errno(code: ENOEXEC)
  /// A symbolic link where none is followed.
  package static let symbolicLink = Errno(code: ELOOP)
  /// The address is taken (bind(2)).
  package static let addressInUse = Errno(code: EADDRINUSE)
  /// This process has no descriptor left.
  package static let tooManyDescriptors = Errno(code: EMFILE)
  /// The system has no descriptor left.
  package static let systemTableFull = Errno(code: ENFILE)
  /// A socket has no path.
  package static let noPath = Errno(code: EDESTADDRREQ)
  /// No process listens on the socket.
  package static let connectionRefused = Errno(code: ECONNREFUSED)
  /// `ECONNABORTED`: the client has gone before it was accepted.
  package static let connectionAborted = Errno(code: ECONNABORTED)
  /// The peer closed the connection with data under way.
  package static let connectionReset = Errno(code: ECONNRESET)
  /// The reader has gone.
  package static let brokenPipe = Errno(code: EPIPE)
  /// The path does not fit into a socket address.
  package static let nameTooLong = Errno(code: ENAMETOOLONG)
  /// The file system is mounted read-only.
  package static let readOnlyFileSystem = Errno(code: EROFS)
  /// The argument makes no sense.
  package static let invalid = Errno(code: EINVAL)
  /// The kernel has no such call.
  package static let notImplemented = Errno(code: ENOSYS)

  /// Whether it means that the machine has no room now: no memory, thread, process or descriptor is left.
  package var isShortage: Bool { [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(code) }
  /// Whether a write found no room: none on the disk, or none in the user's quota.
  package var isFullDisk: Bool { self == .noSpace || self == .quotaExceeded }

  /// Turns the shim's convention (a value, or minus the error number) into a thrown error.
  static func check(_ result: Int32) throws(Errno) -> Int32 {
    guard result >= 0 else { throw Errno(code: -result) }
    return result
  }
}
