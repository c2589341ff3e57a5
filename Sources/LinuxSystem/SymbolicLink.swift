import CLinux

/// Where symbolic links lead.
enum SymbolicLink {
  /// The longest path that the kernel takes (PATH_MAX).
  private static let longestPath = 4096

  /// What a link says (readlink(2)): absolute, or relative to the directory that the link is in.
  ///
  /// - Returns: nil for what is no link or cannot be read.
  static func target(of path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: longestPath)
    // The pointer is used inside the closure only, and the kernel writes at most `count` bytes.
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      // As above; the path is NUL-terminated for the length of the call.
      unsafe clinux_read_link(path, bytes.baseAddress, bytes.count)
    }
    guard count > 0, count < buffer.count else { return nil }
    return String(decoding: buffer[..<Int(count)], as: UTF8.self)
  }
}
