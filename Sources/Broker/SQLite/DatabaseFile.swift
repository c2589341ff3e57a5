import Glibc
import Synchronization

/// The right to open one database file: it exists, is private, and no other connection of this process has it.
///
/// SQLite opens the files beside it by their names and waits for whatever is there: a pipe in place of a journal would
/// stop the process for ever. So each of them is looked at first.
///
/// The file is never opened again by its name while a connection has it: closing any descriptor of a file drops
/// all of the process's POSIX locks on it (fcntl(2), "How To Corrupt An SQLite Database File", section 2.2). And two
/// connections that write one write-ahead log can corrupt it in SQLite before 3.51.3.
struct DatabaseFile: ~Copyable {
  /// The absolute path, in which only the last component can be a symbolic link, and is then refused.
  let path: String
  /// Whether there was a write-ahead log before anything was opened.
  let hadLog: Bool
  private let identity: Identity

  /// The identity of a file, whatever its name.
  private struct Identity: Hashable {
    let device: UInt
    let inode: UInt
  }

  /// The suffixes of SQLite's files beside a database (sqlite.org/tempfiles.html, section 2).
  private static let companionSuffixes: [StaticString] = ["-journal", "-wal", "-shm"]

  private static let inUse = Mutex<Set<Identity>>([])

  /// Finds the file, or creates it empty with mode 0600, and reserves it for this process.
  ///
  /// - Throws: `SQLiteError` with `.cannotOpen` when it is no regular file or cannot be created, `.permission` when it
  ///   belongs to another user, or others may access it, `.locked` when this process has it open; of the operation
  ///   `companion` when a file beside it is no regular file of this user, or is another file by a second name. A second name
  ///   of the database itself, as some backup programs make, is no danger.
  init(path: String) throws(SQLiteError) {
    let path = try Self.resolvingDirectory(of: path)
    for suffix in Self.companionSuffixes { try Self.inspectCompanion(path, suffix) }
    try Self.createIfMissing(path)
    let identity = try Self.inspect(path)
    guard Self.inUse.withLock({ $0.insert(identity).inserted }) else {
      throw SQLiteError(code: .locked, operation: .open)
    }
    self.path = path
    self.identity = identity
    hadLog = Self.exists(path + "-wal")
  }

  deinit {
    let taken = identity
    _ = Self.inUse.withLock { $0.remove(taken) }
  }

  /// SQLITE_OPEN_NOFOLLOW refuses links anywhere in a path; only a link in place of the file is a threat.
  private static func resolvingDirectory(of path: String) throws(SQLiteError) -> String {
    let bytes = Array(path.utf8)
    let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
    let name = String(decoding: bytes[(slash.map { $0 + 1 } ?? 0)...], as: UTF8.self)
    let directory = slash.map { String(decoding: bytes[..<max($0, 1)], as: UTF8.self) } ?? "."
    guard !name.isEmpty, name != ".", name != "..", !bytes.contains(0) else {
      throw SQLiteError(code: .cannotOpen, operation: .open, systemError: EINVAL)
    }
    // realpath(3) with a null buffer returns memory that is freed below, or null.
    guard let resolved = unsafe realpath(directory, nil) else {
      throw SQLiteError(code: .cannotOpen, operation: .open, systemError: errno)
    }
    // Allocated by realpath and not used after this function.
    defer { unsafe free(resolved) }
    // realpath terminates what it returns.
    let absolute = unsafe String(cString: resolved)
    return absolute == "/" ? "/\(name)" : "\(absolute)/\(name)"
  }

  /// O_EXCL: a file that is there is not touched, and a link is not followed (open(2)).
  private static func createIfMissing(_ path: String) throws(SQLiteError) {
    // The path is a string that Swift terminates for the call.
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { return }
      throw SQLiteError(code: .cannotOpen, operation: .open, systemError: errno)
    }
    defer { close(descriptor) }
    // A umask that takes the owner's rights away does not count.
    guard fchmod(descriptor, 0o600) == 0 else {
      throw SQLiteError(code: .cannotOpen, operation: .open, systemError: errno)
    }
  }

  /// Whether its disk has less room than SQLite takes at once, or no room for another file (statvfs(3)); false where
  /// the kernel does not say.
  var isDiskFull: Bool {
    var disk = statvfs()
    // The path is a string that Swift terminates for the call; `disk` is written to.
    guard unsafe statvfs(path, &disk) == 0 else { return false }
    // 32 KiB, by which the index of a write-ahead log grows (sqlite.org/walformat.html).
    let hasRoom = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
    return !hasRoom.overflow && hasRoom.partialValue < 32_768 || disk.f_files > 0 && disk.f_favail == 0
  }

  private static func exists(_ path: String) -> Bool {
    var status = stat()
    // The path is a string that Swift terminates for the call; `status` is written to.
    return unsafe lstat(path, &status) == 0
  }

  private static func inspectCompanion(_ path: String, _ suffix: StaticString) throws(SQLiteError) {
    var status = stat()
    // The path is a string that Swift terminates for the call; `status` is written to.
    guard unsafe lstat(path + suffix.description, &status) == 0 else {
      if errno == ENOENT { return }
      throw SQLiteError(code: .cannotOpen, operation: .companion(suffix), systemError: errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      throw SQLiteError(code: .cannotOpen, operation: .companion(suffix))
    }
    guard status.st_nlink == 1 || status.st_size == 0 || isJournal(path + suffix.description) else {
      throw SQLiteError(code: .cannotOpen, operation: .companion(suffix))
    }
  }

  /// Whether a file begins as SQLite's own do beside a database (sqlite.org/fileformat2.html): one with a second name that
  /// does not would be written over.
  private static func isJournal(_ path: String) -> Bool {
    // The path is a string that Swift terminates for the call.
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var head = [UInt8](repeating: 0, count: 4)
    // Four bytes have room for four.
    guard unsafe pread(descriptor, &head, 4, 0) == 4 else { return false }
    // A write-ahead log in either order of bytes, a rollback journal, one that was finished, and the index of a log.
    return [
      [0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83], [0xD9, 0xD5, 0x05, 0xF9], [0, 0, 0, 0],
      [0x18, 0xE2, 0x2D, 0],
    ]
    .contains(head)
  }

  private static func inspect(_ path: String) throws(SQLiteError) -> Identity {
    var status = stat()
    // The path is a string that Swift terminates for the call; `status` is written to.
    guard unsafe lstat(path, &status) == 0 else {
      throw SQLiteError(code: .cannotOpen, operation: .open, systemError: errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SQLiteError(code: .cannotOpen, operation: .companion(""))
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw SQLiteError(code: .permission, operation: .open)
    }
    return Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }
}
