import CLinux

/// Targets of symbolic links.
package enum SymbolicLink {
  /// The longest path that the kernel takes (PATH_MAX).
  private static let longestPath = 4096
  /// How many links the kernel follows on its way (path_resolution(7)).
  private static let mostLinks = 40

  /// The target of a link (readlink(2)): absolute, or relative to the directory that the link is in.
  ///
  /// - Returns: nil for what is no link or cannot be read.
  package static func target(of path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: longestPath)
    // The pointer is used inside the closure only, and the kernel writes at most `count` bytes.
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      // As above; the path is NUL-terminated for the length of the call.
      unsafe clinux_read_link(path, bytes.baseAddress, bytes.count)
    }
    guard count > 0, count < buffer.count else { return nil }
    return String(decoding: buffer[..<Int(count)], as: UTF8.self)
  }

  /// The path behind a link and behind every link that this leads to; a path that is no link is its own.
  ///
  /// - Returns: a path that is no link, or at which there is nothing.
  /// - Throws: `ELOOP` where there are more links than the kernel follows (path_resolution(7)).
  package static func resolved(_ path: String) throws(Errno) -> String {
    var path = path
    for _ in 0...mostLinks {
      guard let target = target(of: path) else { return path }
      // Not shortened: what `..` means behind a linked directory, the kernel knows.
      path = PathName.isAbsolute(target) ? target : "\(PathName.directory(of: path))/\(target)"
    }
    throw .symbolicLink
  }

  /// Makes a link (symlink(2)); a name that is taken is never replaced.
  ///
  /// - Throws: `Errno.exists` if the name is taken, else what symlink(2) says.
  package static func make(_ path: String, to target: String) throws(Errno) {
    // Both strings are NUL-terminated for the length of the call, which does not keep them.
    _ = try Errno.check(unsafe clinux_result(symlink(target, path)))
  }
}
