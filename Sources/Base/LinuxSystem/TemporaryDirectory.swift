import CLinux

/// A new directory of this user (0700), removed with all that is in it when the value ends.
@usableFromInline
package struct TemporaryDirectory: ~Copyable, Sendable {
  /// The absolute path.
  @usableFromInline package let path: String

  /// Makes a directory below `/tmp`, whatever `TMPDIR` says: socket paths in it must stay short (unix(7)).
  ///
  /// - Parameters:
  ///   - prefix: how its name begins.
  ///   - parent: the absolute path of the directory that it is made in.
  /// - Throws: what mkdtemp(3) says.
  package init(prefix: String, in parent: String = "/tmp") throws(Errno) {
    var template = Array("\(parent)/\(prefix).XXXXXX".utf8CString)
    // The template is NUL-terminated, and mkdtemp writes into its last six characters only.
    let made = unsafe template.withUnsafeMutableBufferPointer { template in
      // As above.
      unsafe template.baseAddress.flatMap { unsafe mkdtemp($0) } != nil
    }
    guard made else { throw Errno(code: clinux_errno()) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @inlinable
  deinit { TemporaryDirectory.remove(path) }

  /// The names in a directory, sorted by their bytes, without `.` and `..`.
  ///
  /// - Throws: what opendir(3) says.
  package static func names(in path: String) throws(Errno) -> [String] {
    // The path is NUL-terminated for the length of the call; the stream is closed below.
    guard let stream = unsafe opendir(path) else { throw Errno(code: clinux_errno()) }
    // Opened above, and closed only here.
    defer { unsafe closedir(stream) }
    var names: [String] = []
    // The entry is valid until the next call, and its name is copied at once.
    while let entry = unsafe readdir(stream) {
      // `d_name` is NUL-terminated inside the entry.
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        // As above: 256 characters.
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Removes a tree without following a symbolic link; what cannot be removed stays.
  @usableFromInline
  static func remove(_ path: String) {
    if (try? FileStatus.ofLink(path))?.kind == .directory {
      for name in (try? names(in: path)) ?? [] { remove(path + "/" + name) }
      // The string is NUL-terminated for the length of the call, which does not keep it.
      _ = unsafe rmdir(path)
    } else {
      // As above.
      _ = unsafe clinux_unlink(path)
    }
  }
}
