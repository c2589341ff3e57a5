import CLinux

/// A file that decides what this process does, and that only this user and root can change or exchange.
///
/// The rule is that of sshd's StrictModes (sshd_config(5)): the file and every directory up to `/` belong to this user
/// or to root and can be written to by no one else, as ``WriteTrust`` judges it. Symbolic links are followed, and each of
/// them must belong to this user or to root as well. Beyond sshd, a directory that others can write to is accepted where
/// it is sticky, as `/tmp` is: there, only its owner and the owner of an entry can exchange the entry (inode(7)), and both
/// are checked.
package enum TrustedFile {
  /// Why a file is not trusted.
  package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file, a directory above it or a link to it can be changed by another user.
    case changeable(String, WriteTrust.Objection)
    /// It is a directory, a pipe, a device or a socket.
    case notAFile(String)
    /// The path is a symbolic link that leads to nothing.
    case linkToNothing(String)
    /// The path led to another file a moment ago.
    case replaced(String)
    /// The path or the file cannot be read.
    case failed(String, Errno)

    /// One sentence, and what to do.
    package var description: String {
      switch self {
      case .changeable(let path, let objection): objection.description(of: path)
      case .notAFile(let path): "\(path) is not a regular file."
      case .linkToNothing(let path):
        "\(path) is a symbolic link to a file that is not there; put the file in its place, or remove the link."
      case .replaced(let path): "\(path) was replaced while it was being read; try again."
      case .failed(let path, let error): "\(path) cannot be read: \(error)."
      }
    }

    /// Whether there is no such file.
    package var isMissing: Bool {
      guard case .failed(_, .noEntry) = self else { return false }
      return true
    }
  }

  /// How many symbolic links are followed: as many as the kernel follows (path_resolution(7)).
  private static let linkLimit = 40
  /// Of a symbolic link's target: PATH_MAX.
  private static let longestTarget = 4096

  /// Opens a file for reading after checking it and everything that leads to it.
  ///
  /// - Parameter path: absolute.
  /// - Returns: the open file.
  /// - Throws: the reason why it is not trusted.
  package static func open(_ path: String) throws(Refusal) -> FileDescriptor {
    let (real, status) = try resolve(path)
    do throws(Errno) {
      let file = try FileDescriptor.open(real, [.read, .noFollow, .nonBlocking])
      guard try file.status().identity == status.identity else { throw Errno.symbolicLink }
      return file
    } catch {
      throw error == .symbolicLink ? .replaced(real) : .failed(real, error)
    }
  }

  /// Checks a file and everything that leads to it.
  ///
  /// - Parameter path: absolute.
  /// - Returns: what the file is like.
  /// - Throws: the reason why it is not trusted.
  @discardableResult
  package static func check(_ path: String) throws(Refusal) -> FileStatus { try resolve(path).status }

  /// Follows the path component by component, so that no link is missed.
  private static func resolve(_ path: String) throws(Refusal) -> (path: String, status: FileStatus) {
    guard PathName.isAbsolute(path) else { throw .failed(path, .invalid) }
    var rest = components(path)
    var (place, status) = ("", try look("/"))
    var links = 0
    while let name = rest.popLast() {
      if name == ".." {
        place = PathName.directory(of: place)
        if place == "/" { place = "" }
        continue
      }
      let next = place + "/" + name
      do throws(Refusal) { status = try look(next) } catch {
        // A directory on the way may be a link, and hold no such file.
        guard error.isMissing, (try? FileStatus.ofLink(path))?.kind == .symbolicLink else { throw error }
        throw .linkToNothing(path)
      }
      guard status.kind == .symbolicLink else {
        place = next
        continue
      }
      links += 1
      guard links <= linkLimit else { throw .failed(path, .symbolicLink) }
      let target = try target(of: next)
      if PathName.isAbsolute(target) { place = "" }
      rest += components(target)
    }
    guard status.kind == .regular else { throw .notAFile(place.isEmpty ? "/" : place) }
    return (place, status)
  }

  /// The names in a path, the first one last.
  private static func components(_ path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }.reversed()
  }

  /// Looks at one entry and refuses it where another user can change it.
  private static func look(_ path: String) throws(Refusal) -> FileStatus {
    let status: FileStatus
    do throws(Errno) { status = try FileStatus.ofLink(path) } catch { throw .failed(path, error) }
    if let objection = WriteTrust.current.objection(to: path, status) { throw .changeable(path, objection) }
    return status
  }

  private static func target(of path: String) throws(Refusal) -> String {
    var buffer = [UInt8](repeating: 0, count: longestTarget)
    // The path is NUL-terminated for the length of the call, and the kernel writes at most `count` bytes.
    let result = unsafe buffer.withUnsafeMutableBytes { bytes in
      // As above.
      unsafe clinux_read_link(path, bytes.baseAddress, bytes.count)
    }
    guard result >= 0 else { throw .failed(path, Errno(code: Int32(truncatingIfNeeded: -result))) }
    guard result < longestTarget else { throw .failed(path, .nameTooLong) }
    return String(decoding: buffer[..<Int(result)], as: UTF8.self)
  }
}
