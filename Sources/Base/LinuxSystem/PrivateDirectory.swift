import CLinux

/// A directory that only its owner can look into, held open so that it cannot be exchanged unnoticed.
///
/// A user who may write to a directory can replace a socket or a file in it whatever their own modes, so the directory
/// and the path to it are checked first: the directory belongs to this user with mode 0700 and is no symbolic link;
/// each directory above belongs to this user or to root and can be written to by no one else (``WriteTrust``). The
/// same holds of every directory that a symbolic link above leads through, and the link itself belongs to this user or to
/// root: in a sticky directory, the owner of a link can lead it elsewhere at any time.
package struct PrivateDirectory: ~Copyable {
  /// Why a directory is not trusted.
  package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The path does not begin with a slash.
    case notAbsolute(String)
    /// It is something else, or a symbolic link.
    case notADirectory(String)
    /// It belongs to another user.
    case foreignOwner(String, owner: UInt32)
    /// Others have rights on it.
    case openToOthers(String, permissions: UInt32)
    /// A directory above can be written to by others.
    case unsafeParent(String, WriteTrust.Objection)
    /// The path leads to another directory than it did a moment ago.
    case replaced(String)
    /// The kernel said no.
    case failed(String, Errno)

    /// The path that is not trusted.
    package var path: String {
      switch self {
      case .notAbsolute(let path), .notADirectory(let path), .foreignOwner(let path, _), .openToOthers(let path, _),
        .unsafeParent(let path, _), .replaced(let path), .failed(let path, _):
        path
      }
    }

    /// One sentence, and what to do.
    package var description: String {
      switch self {
      case .notAbsolute(let path): "\(path) is not an absolute path."
      case .notADirectory(let path): "\(path) is not a directory, or is a symbolic link; remove it or choose another."
      case .foreignOwner(let path, let owner): "\(path) belongs to user \(owner); choose a directory of your own."
      case .openToOthers(let path, let permissions):
        "\(path) is open to others (mode \(String(permissions, radix: 8))); \(Self.remedy(path, permissions))"
      case .unsafeParent(let path, let objection):
        objection.description(of: path) + ", or choose a directory elsewhere."
      case .replaced(let path): "\(path) was replaced while it was being used; try again."
      case .failed(let path, let error): "\(path) cannot be used: \(error)."
      }
    }

    /// The advice for a directory of this user that is open to others: a shared one is not to be closed.
    private static func remedy(_ path: String, _ permissions: UInt32) -> String {
      let home = EnvironmentVariables.current["HOME"].map { PathName.absolute($0, in: "/") }
      let isShared = permissions & 0o1000 != 0 || path == home
      guard !isShared else { return "choose a directory that is yours alone, with --socket or --state." }
      return "run: chmod 700 \(ShellWord.quoted(path))"
    }
  }

  /// The absolute path.
  package let path: String
  /// The open directory.
  package let descriptor: FileDescriptor
  private let identity: FileStatus.Identity

  /// Opens a directory after checking it and the path to it.
  ///
  /// - Parameters:
  ///   - path: absolute.
  ///   - create: makes it if it is missing, and what is missing above it, all with mode 0700.
  /// - Throws: the reason why it is not trusted.
  package init(_ path: String, create: Bool) throws(Refusal) {
    guard PathName.isAbsolute(path) else { throw .notAbsolute(path) }
    let parents = PrivateDirectory.parents(of: path)
    // Nothing is made behind a directory that is not safe; where everything is there, one look at the whole way is enough.
    let isMissing = create && (try? FileStatus.ofLink(path)) == nil
    for parent in isMissing ? parents : parents.suffix(1) {
      if isMissing { try PrivateDirectory.make(parent) }
      try PrivateDirectory.checkWay(to: parent)
    }
    if isMissing { try PrivateDirectory.make(path) }
    let descriptor = try PrivateDirectory.open(path)
    let status: FileStatus
    do { status = try descriptor.status() } catch { throw .failed(path, error) }
    guard status.owner == geteuid() else { throw .foreignOwner(path, owner: status.owner) }
    guard !status.isOpenToOthers else { throw .openToOthers(path, permissions: status.permissions) }
    self.path = path
    self.descriptor = descriptor
    identity = status.identity
  }

  /// Checks that the path still leads to this very directory.
  package func checkUnchanged() throws(Refusal) {
    guard let status = try? FileStatus.ofLink(path), status.identity == identity, !status.isOpenToOthers else {
      throw .replaced(path)
    }
  }

  /// The directories above `path`, from the root down, without `path` itself.
  static func parents(of path: String) -> [String] {
    var parents = ["/"]
    for component in path.utf8.split(separator: UInt8(ascii: "/")).dropLast() {
      let parent = parents[parents.count - 1]
      parents.append((parent == "/" ? "/" : parent + "/") + String(Substring(component)))
    }
    return parents
  }

  private static func open(_ path: String) throws(Refusal) -> FileDescriptor {
    do throws(Errno) {
      return try FileDescriptor.open(path, [.read, .directory, .noFollow])
    } catch {
      throw error == .notDirectory || error == .symbolicLink ? .notADirectory(path) : .failed(path, error)
    }
  }

  private static func make(_ path: String) throws(Refusal) {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    let result = unsafe clinux_mkdir(path)
    guard result < 0 else { return }
    let error = Errno(code: -result)
    // Above, there may be directories that exist and that are not writable.
    guard error != .exists, (try? FileStatus.following(path)) == nil else { return }
    throw .failed(path, error)
  }

  /// How many symbolic links a path may lead through, as in the kernel (path_resolution(7)).
  private static let linkLimit = 40

  /// Checks each directory and each symbolic link on the way to a directory, and that itself.
  ///
  /// No other user may exchange what lies there; it may be open for reading.
  ///
  /// - Throws: the reason why it is not trusted.
  package static func checkWay(to path: String) throws(Refusal) {
    var left = Array(components(of: path).reversed())
    var (place, links) = ("", 0)
    try checkParent("/")
    while let component = left.popLast() {
      guard component != ".." else {
        place = PathName.directory(of: place)
        if place == "/" { place = "" }
        continue
      }
      let next = place + "/" + component
      let status: FileStatus
      do { status = try FileStatus.ofLink(next) } catch { throw .failed(path, error) }
      guard status.kind == .symbolicLink else {
        try checkParent(next)
        place = next
        continue
      }
      if let objection = WriteTrust.current.objection(to: next, status) { throw .unsafeParent(next, objection) }
      links += 1
      guard links <= linkLimit, let target = SymbolicLink.target(of: next) else { throw .failed(next, .symbolicLink) }
      if PathName.isAbsolute(target) { place = "" }
      left += components(of: target).reversed()
    }
  }

  private static func components(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
  }

  private static func checkParent(_ path: String) throws(Refusal) {
    let status: FileStatus
    do { status = try FileStatus.ofLink(path) } catch { throw .failed(path, error) }
    if let objection = WriteTrust.current.objection(to: path, status) { throw .unsafeParent(path, objection) }
  }
}
