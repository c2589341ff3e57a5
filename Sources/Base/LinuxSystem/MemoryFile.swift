import CLinux

/// Bytes as a file in memory alone (memfd_create(2)), emptied when the value ends.
///
/// For the standard input of a program: unlike a pipe, which may hold as little as a page (pipe(7), "Pipe capacity"), it
/// takes all of it before the program runs, and no signal comes where the program does not read.
@usableFromInline
package struct MemoryFile: ~Copyable, Sendable {
  /// The file, at its beginning.
  @usableFromInline package let descriptor: FileDescriptor

  /// Makes a file.
  ///
  /// - Parameter bytes: all of its content.
  /// - Throws: what memfd_create(2) or pwrite(2) says.
  package init(_ bytes: Span<UInt8>) throws(Errno) {
    // The name is NUL-terminated for the length of the call, and copied by the kernel; /proc/PID/fd shows it.
    let file = FileDescriptor(owning: try Errno.check(unsafe clinux_memory_file("authbroker")))
    // A place, so that the position stays where reading begins.
    try file.writeAll(bytes, at: 0)
    descriptor = file
  }

  @inlinable
  deinit { MemoryFile.empty(descriptor.number) }

  /// Removes the content for every process that still has the file open.
  @usableFromInline
  static func empty(_ number: Int32) { _ = clinux_truncate(number, 0) }
}
