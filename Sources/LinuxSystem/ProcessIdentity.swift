import CLinux

/// Who this process is.
package enum ProcessIdentity {
  /// The effective user: whose files these are, and who may connect.
  package static var user: UInt32 { geteuid() }

  /// The process id.
  package static var pid: Int32 { getpid() }

  /// The file that this process executes; nil if `/proc` is missing.
  package static var executable: String? { link("/proc/self/exe") }

  /// Where relative paths begin; the root if that directory is gone.
  package static var workingDirectory: String { link("/proc/self/cwd") ?? "/" }

  private static func link(_ path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    // The pointer is used inside the closure only, and the kernel writes at most `count` bytes.
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      // As above; the path is NUL-terminated for the length of the call.
      unsafe clinux_read_link(path, bytes.baseAddress, bytes.count)
    }
    guard count > 0, count < buffer.count else { return nil }
    let target = String(decoding: buffer[..<Int(count)], as: UTF8.self)
    return target.hasPrefix("/") ? target : nil
  }
}
