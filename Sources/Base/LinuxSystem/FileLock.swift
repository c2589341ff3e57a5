import CLinux

/// An exclusive lock on a file (flock(2)), held until the value ends: the kernel drops it even after a kill.
///
/// The file is never unlinked. If it were, two processes could hold locks on two files of one name, so after locking
/// it is checked that the path still leads to the locked file.
package struct FileLock: ~Copyable, Sendable {
  /// Why there is no lock.
  package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another process holds it.
    case held(String)
    /// The path is no regular file of this user.
    case notOurs(String)
    /// The kernel said no.
    case failed(String, Errno)

    /// One sentence.
    package var description: String {
      switch self {
      case .held(let path): "\(path) is locked by another process."
      case .notOurs(let path): "\(path) is not a regular file of yours; remove it."
      case .failed(let path, .readOnlyFileSystem):
        "\(path) cannot be written: the file system is read-only; choose another directory with --state."
      case .failed(let path, .accessDenied):
        "\(path) cannot be written: you may not write to it, or to its directory."
      case .failed(let path, let error): "\(path) cannot be locked: \(error)."
      }
    }
  }

  /// The locked file, open for reading and writing.
  package let descriptor: FileDescriptor
  /// Its path.
  package let path: String

  /// How long a waiting caller sleeps between two tries: flock(2) itself knows no time limit.
  private static let pause: Int64 = 5_000_000

  /// Locks a file, which is made (0600) if it is missing.
  ///
  /// - Parameters:
  ///   - path: of the file.
  ///   - limit: how long to wait for another holder; nil: not at all.
  /// - Throws: `held` if another process has it, at once or after the limit.
  package init(_ path: String, waitingAtMost limit: Duration? = nil) throws(Refusal) {
    try self.init(path, waitingAtMost: limit) {}
  }

  /// The same, with something that a test does each time that the file is open and not locked yet.
  init(_ path: String, waitingAtMost limit: Duration?, whenOpened: () -> Void) throws(Refusal) {
    let deadline = limit.map { BootClock.nanoseconds &+ $0.wholeNanoseconds }
    while true {
      let descriptor = try FileLock.open(path)
      try FileLock.check(descriptor, path)
      whenOpened()
      if try FileLock.tryLock(descriptor, path), FileLock.isStill(path, descriptor) {
        self.descriptor = descriptor
        self.path = path
        return
      }
      guard let deadline, BootClock.nanoseconds < deadline else { throw .held(path) }
      clinux_sleep(FileLock.pause)
    }
  }

  /// Whether a process holds the lock of a file right now.
  ///
  /// The question takes the lock shared for a moment where no process does. A file that is there and cannot be opened
  /// may well be locked.
  package static func isHeld(_ path: String) -> Bool {
    let descriptor: FileDescriptor
    do throws(Errno) { descriptor = try FileDescriptor.open(path, [.read, .noFollow, .nonBlocking]) } catch {
      return error != .noEntry && error != .notDirectory
    }
    return clinux_is_locked(descriptor.number) == 1
  }

  /// The process that holds the lock of a file; nil where none does, or the kernel does not say (proc(5), `/proc/locks`).
  ///
  /// A process that was handed the descriptor does not show: the one that locked it does. Nil, too, on a file system whose
  /// device is another one in that list than in stat(2), such as Btrfs.
  package static func holder(of path: String) -> Int32? {
    guard let status = try? FileStatus.ofLink(path),
      let file = try? FileDescriptor.open("/proc/locks", .read)
    else { return nil }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while text.count < longestList, case .bytes(let count) = file.read(into: &chunk) { text += chunk[..<count] }
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      // `1: FLOCK ADVISORY WRITE 4242 fe:01:1234 0 EOF`
      guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let pid = Int32(words[4]), pid > 1,
        status.identity.isNamed(by: words[5])
      else { continue }
      return pid
    }
    return nil
  }

  /// Of the list of all locks: some ten thousand.
  private static let longestList = 1 << 20

  /// Reads the file, up to `limit` bytes.
  package func contents(limit: Int) throws(Errno) -> [UInt8] {
    try descriptor.contents(limit: limit)
  }

  /// Whether the path leads to another file by now, or to none: another process may hold that one.
  ///
  /// False where the path cannot be examined.
  package var isLeft: Bool {
    guard let locked = try? descriptor.status() else { return false }
    do throws(Errno) {
      return try FileStatus.ofLink(path).identity != locked.identity
    } catch { return error == .noEntry || error == .notDirectory }
  }

  /// Whether the file has other names: what is written into it is written there, too.
  package var hasOtherNames: Bool { ((try? descriptor.status())?.linkCount ?? 1) > 1 }

  /// Makes the file say something else; nothing at all at an orderly end.
  ///
  /// What is there is written over, so that a full disk has room for it. A reader may see a mixture for a moment.
  package func replaceContents(with bytes: [UInt8]) throws(Errno) {
    _ = try Errno.check(clinux_rewind(descriptor.number))
    if !bytes.isEmpty { try descriptor.writeAll(bytes.span) }
    try descriptor.truncate(to: Int64(bytes.count))
  }

  private static func open(_ path: String) throws(Refusal) -> FileDescriptor {
    do throws(Errno) {
      return try FileDescriptor.open(path, [.readWrite, .create, .noFollow, .nonBlocking])
    } catch { throw error == .symbolicLink ? .notOurs(path) : .failed(path, error) }
  }

  private static func check(_ descriptor: borrowing FileDescriptor, _ path: String) throws(Refusal) {
    let status: FileStatus
    do { status = try descriptor.status() } catch { throw .failed(path, error) }
    guard status.kind == .regular, status.owner == geteuid() else { throw .notOurs(path) }
  }

  private static func tryLock(_ descriptor: borrowing FileDescriptor, _ path: String) throws(Refusal) -> Bool {
    let result = clinux_lock(descriptor.number)
    guard result < 0 else { return true }
    guard result == -EWOULDBLOCK else { throw .failed(path, Errno(code: -result)) }
    return false
  }

  private static func isStill(_ path: String, _ descriptor: borrowing FileDescriptor) -> Bool {
    guard let named = try? FileStatus.ofLink(path), let locked = try? descriptor.status() else { return false }
    return named.identity == locked.identity
  }
}
