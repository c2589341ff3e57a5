import CLinux

/// The identity of this process.
package enum ProcessIdentity {
  /// The effective user, who owns the files and may connect.
  package static var user: UInt32 { geteuid() }
  /// The effective group of this process.
  package static var group: UInt32 { getegid() }

  /// The process id.
  package static var pid: Int32 { getpid() }

  /// The process that started this one; another one once that has ended.
  package static var parent: Int32 { getppid() }

  /// When a process was started, in clock ticks since the machine was (proc(5), `/proc/PID/stat`, field 22); nil where
  /// there is none.
  ///
  /// Together with its number it names one process: numbers are used again.
  package static func startTime(of pid: Int32) -> UInt64? {
    guard let (_, fields) = status(of: pid), fields.count > 19 else { return nil }
    return UInt64(String(decoding: fields[19], as: UTF8.self))
  }

  /// The effective user of a process (proc(5), `/proc/PID/status`, `Uid`); nil where there is none.
  package static func user(of pid: Int32) -> UInt32? {
    guard let bytes = try? FileDescriptor.open("/proc/\(pid)/status", .read).contents(limit: 1 << 16),
      let line = bytes.split(separator: UInt8(ascii: "\n")).first(where: { $0.starts(with: "Uid:".utf8) })
    else { return nil }
    let fields = line.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
    return fields.count > 2 ? UInt32(String(decoding: fields[2], as: UTF8.self)) : nil
  }

  /// Whether a process was stopped by a signal (proc(5), `/proc/PID/stat`, field 3).
  package static func isStopped(_ pid: Int32) -> Bool { status(of: pid)?.fields.first == [UInt8(ascii: "T")] }

  /// The name of the program that a process executes, of at most 15 bytes (proc(5), `/proc/PID/stat`, field 2).
  package static func program(of pid: Int32) -> String? { status(of: pid)?.program }

  /// The program, the parent and the start of a process, by one look (proc(5), `/proc/PID/stat`, fields 2, 4 and 22).
  ///
  /// - Returns: the start in clock ticks since the machine was started; nil where there is no such process.
  package static func origin(of pid: Int32) -> (program: String, parent: Int32, startTime: UInt64)? {
    guard let (program, fields) = status(of: pid), fields.count > 19,
      let parent = Int32(String(decoding: fields[1], as: UTF8.self)),
      let start = UInt64(String(decoding: fields[19], as: UTF8.self))
    else { return nil }
    return (program, parent, start)
  }

  /// The name of a process, and the fields behind it.
  private static func status(of pid: Int32) -> (program: String, fields: [ArraySlice<UInt8>])? {
    guard let file = try? FileDescriptor.open("/proc/\(pid)/stat", .read) else { return nil }
    var line = [UInt8](repeating: 0, count: 4096)
    guard case .bytes(let count) = file.read(into: &line) else { return nil }
    // The second field is a name in parentheses, which may have blanks and parentheses of its own.
    guard let start = line[..<count].firstIndex(of: UInt8(ascii: "(")),
      let end = line[start..<count].lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    return (
      String(decoding: line[(start + 1)..<end], as: UTF8.self),
      line[(end + 1)..<count].split(separator: UInt8(ascii: " "))
    )
  }

  /// The file that this process executes; where `/proc` is missing, the path by which it was executed (getauxval(3)), and
  /// nil if that one is relative.
  package static var executable: String? {
    if let path = link("/proc/self/exe") { return path }
    // The kernel has put the string behind the stack, NUL-terminated, for the life of the process.
    guard let name = unsafe clinux_executed_name() else { return nil }
    // As above.
    let path = unsafe String(cString: name)
    return PathName.isAbsolute(path) ? path : nil
  }

  /// The directory that relative paths begin at; the root if that directory is gone.
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
    return PathName.isAbsolute(target) ? target : nil
  }
}
