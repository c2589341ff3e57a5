import CLinux

/// Unix stream sockets that are addressed by a path (unix(7)).
///
/// Abstract names are never used: they have no owner.
package enum UnixSocket {
  /// The longest path, in bytes, that a socket address can hold; a longer one is reached from its directory.
  package static let longestPath = CLINUX_PATH_LIMIT

  /// The longest last part, in bytes, of a path that is too long for an address: it stands behind the directory's descriptor
  /// there (proc(5)).
  package static let longestName = longestPath - "/proc/self/fd/2147483647/".utf8.count

  /// Whether a socket can be at a path.
  package static func fits(_ path: String) -> Bool {
    path.utf8.count <= longestPath || nameLength(path) <= longestName
  }

  private static func nameLength(_ path: String) -> Int {
    path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.count
  }

  /// How many connections may wait to be accepted; the kernel lowers it to `net.core.somaxconn`.
  ///
  /// With the usual 128, a burst of clients that connect without waiting is refused.
  package static let backlog: Int32 = 4096

  /// Why no socket could be opened at a path.
  package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// Longer than an address can be, and so is the name in its directory.
    case pathTooLong(String)
    /// The directory cannot be trusted.
    case directory(PrivateDirectory.Refusal)
    /// Something that is no socket of this user is in the way.
    case occupied(String)
    /// A process listens there.
    case inUse(String)
    /// The kernel said no.
    case failed(String, Errno)

    /// One sentence, and what to do.
    package var description: String {
      switch self {
      case .pathTooLong(let path):
        "the name of the socket \(path) has \(nameLength(path)) bytes, at most \(longestName) fit; "
          + "choose a shorter one with --socket."
      case .directory(let refusal): refusal.description
      case .occupied(let path): "\(path) exists and is no socket of yours; remove it or choose another with --socket."
      case .inUse(let path): "another program listens on \(path); choose another path with --socket."
      case .failed(let path, let error): "the socket \(path) cannot be used: \(error)."
      }
    }
  }

  /// A socket that listens, and the path it made.
  package struct Listening: ~Copyable {
    /// Accepts connections; non-blocking.
    package let descriptor: FileDescriptor
    /// The path at which clients find it.
    package let path: String
    private let identity: FileStatus.Identity?

    /// Holds a socket that listens; `identity` nil leaves the path alone at the end.
    fileprivate init(descriptor: consuming FileDescriptor, path: String, identity: FileStatus.Identity?) {
      self.descriptor = descriptor
      self.path = path
      self.identity = identity
    }

    /// Takes over a socket that the service manager opened, at whatever path; the path is left alone at the end.
    ///
    /// It listens once more: clients are shown who called listen(2) last (`SO_PEERCRED`, unix(7)), and that is to be the
    /// broker's user, not the manager's.
    ///
    /// - Throws: `EDESTADDRREQ` for a socket without an absolute path; what getsockname(2) and listen(2) say.
    package init(adopting descriptor: consuming FileDescriptor) throws(Errno) {
      let path = try UnixSocket.path(of: descriptor)
      guard PathName.isAbsolute(path) else { throw .noPath }
      _ = try Errno.check(clinux_listen(descriptor.number, backlog))
      self.init(descriptor: descriptor, path: path, identity: nil)
    }

    /// Whether the path is one that this process made.
    package var ownsPath: Bool { identity != nil }

    /// Whether the path still leads to this very socket; one that another program made is not looked at.
    package var isInPlace: Bool {
      guard let identity else { return true }
      return (try? FileStatus.ofLink(path))?.identity == identity
    }

    /// Removes the path, if it still leads to this very socket.
    package func removePath() {
      guard ownsPath, isInPlace else { return }
      // The string is NUL-terminated for the length of the call, which does not keep it.
      _ = unsafe clinux_unlink(path)
    }
  }

  /// The other users that may connect to a socket.
  package struct Sharing: Equatable, Sendable {
    /// Its permissions.
    package var mode: UInt32
    /// The group that it belongs to; nil for this process's.
    package var group: UInt32?

    /// These permissions and this group.
    package init(mode: UInt32, group: UInt32?) { (self.mode, self.group) = (mode, group) }
  }

  /// Opens a listening socket in a private directory, which is made if it is missing; a shared one also in a directory
  /// that others may enter, and to which only this user and root may write.
  ///
  /// A dead socket of an earlier owner is removed. That is safe only because the caller holds the lock of the state
  /// directory: no other owner can be between `bind` and `listen` there. The file mode mask of the whole process is
  /// changed for the moment of `bind`, so this is called before other threads make files.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - lock: proof that the caller is the only owner.
  ///   - sharing: who else may connect; nil for no other user.
  /// - Returns: the socket, non-blocking.
  /// - Throws: what is in the way.
  package static func listen(
    at path: String, holding lock: borrowing FileLock, _ sharing: Sharing? = nil
  ) throws(Refusal) -> Listening {
    let directory = try privateDirectory(of: path, unlessShared: sharing != nil)
    try removeDeadSocket(at: path)
    do throws(Errno) {
      let descriptor = FileDescriptor(owning: try Errno.check(clinux_unix_socket(1)))
      // The string is NUL-terminated for the length of the call, which does not keep it.
      _ = try Errno.check(unsafe clinux_unix_bind(descriptor.number, path))
      // As above.
      _ = try Errno.check(unsafe clinux_result(chmod(path, 0o600)))
      if let group = sharing?.group {
        // As above; the owner stays.
        _ = try Errno.check(unsafe clinux_result(lchown(path, .max, group)))
      }
      // As above.
      if let sharing { _ = try Errno.check(unsafe clinux_result(chmod(path, sharing.mode))) }
      let status = try FileStatus.ofLink(path)
      guard status.kind == .socket, status.owner == geteuid() else { throw Errno.accessDenied }
      _ = try Errno.check(clinux_listen(descriptor.number, backlog))
      do { try directory?.checkUnchanged() } catch { throw Errno.accessDenied }
      return Listening(descriptor: descriptor, path: path, identity: status.identity)
    } catch {
      throw error == .nameTooLong ? .pathTooLong(path) : .failed(path, error)
    }
  }

  /// Connects and returns a blocking socket.
  ///
  /// - Parameters:
  ///   - path: of the socket.
  ///   - limit: whole seconds that a full queue of the listener may hold the caller up.
  ///   - boundsSending: whether the limit holds for a peer that does not read as well.
  /// - Returns: the connection.
  /// - Throws: `ENOENT` or `ECONNREFUSED` if no process listens, `EAGAIN` after the limit, `ENAMETOOLONG`.
  package static func connect(
    to path: String, waitingAtMost limit: Int64 = 5, boundsSending: Bool = false
  ) throws(Errno) -> FileDescriptor {
    let descriptor = FileDescriptor(owning: try Errno.check(clinux_unix_socket(0)))
    _ = try Errno.check(clinux_set_send_timeout(descriptor.number, limit))
    // The string is NUL-terminated for the length of the call, which does not keep it.
    _ = try Errno.check(unsafe clinux_unix_connect(descriptor.number, path))
    if !boundsSending { _ = try Errno.check(clinux_set_send_timeout(descriptor.number, 0)) }
    return descriptor
  }

  /// Two connected sockets.
  package static func pair(nonBlocking: Bool = false) throws(Errno) -> Pair {
    let pair = clinux_socketpair(nonBlocking ? 1 : 0)
    guard pair.error == 0 else { throw Errno(code: pair.error) }
    return Pair(first: FileDescriptor(owning: pair.first), second: FileDescriptor(owning: pair.second))
  }

  /// The two ends of a connection of this process with itself.
  package struct Pair: ~Copyable {
    /// One end.
    package let first: FileDescriptor
    /// The other end.
    package let second: FileDescriptor

    /// Gives both ends away.
    package consuming func ends<R: ~Copyable, E: Error>(
      _ body: (consuming FileDescriptor, consuming FileDescriptor) throws(E) -> R
    ) throws(E) -> R {
      try body(first, second)
    }
  }

  /// Takes the next waiting connection of a listening socket; the new descriptor is non-blocking.
  ///
  /// - Returns: nil when none is waiting.
  /// - Throws: `EMFILE` and `ENFILE` when descriptors have run out, and what else accept(2) says.
  package static func accept(from listener: borrowing FileDescriptor) throws(Errno) -> FileDescriptor? {
    let result = clinux_accept(listener.number)
    if result == -EAGAIN { return nil }
    return FileDescriptor(owning: try Errno.check(result))
  }

  /// The path that a socket is bound to; empty for one without a path.
  package static func path(of descriptor: borrowing FileDescriptor) throws(Errno) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(longestPath) + 1)
    let number = descriptor.number
    let result = unsafe buffer.withUnsafeMutableBytes { bytes in
      // The kernel's answer is cut to `count` bytes.
      unsafe clinux_unix_path(number, bytes.baseAddress, bytes.count)
    }
    return String(decoding: buffer[..<Int(try Errno.check(result))], as: UTF8.self)
  }

  /// True if a descriptor is a Unix stream socket that listens.
  package static func isListening(_ descriptor: borrowing FileDescriptor) -> Bool {
    clinux_is_listening_unix_stream(descriptor.number) == 1
  }

  /// The directory of a socket; nil for one that is there and may be shared, which no other user can exchange either.
  private static func privateDirectory(
    of path: String, unlessShared isShared: Bool
  ) throws(Refusal) -> PrivateDirectory? {
    let directory = PathName.directory(of: path)
    do throws(PrivateDirectory.Refusal) {
      guard isShared, (try? FileStatus.following(directory)) != nil else {
        return try PrivateDirectory(directory, create: true)
      }
      try PrivateDirectory.checkWay(to: directory)
      return nil
    } catch {
      throw .directory(error)
    }
  }

  private static func removeDeadSocket(at path: String) throws(Refusal) {
    let status: FileStatus
    do throws(Errno) { status = try FileStatus.ofLink(path) } catch {
      if error == .noEntry { return }
      throw .failed(path, error)
    }
    guard status.kind == .socket, status.owner == geteuid() else { throw .occupied(path) }
    do throws(Errno) { try connect(to: path).close() } catch {
      guard error == .connectionRefused else { throw error == .again ? .inUse(path) : .failed(path, error) }
      // The string is NUL-terminated for the length of the call, which does not keep it.
      let result = unsafe clinux_unlink(path)
      guard result == 0 else { throw .failed(path, Errno(code: -result)) }
      return
    }
    throw .inUse(path)
  }
}
