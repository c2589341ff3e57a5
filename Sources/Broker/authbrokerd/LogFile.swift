import LinuxSystem

/// The log of an owner that was started on demand: bounded, so that a broker that runs unwatched fills no disk.
///
/// For the one thread that writes the log.
final class LogFile: Sendable {
  /// A file of this size is put aside; one older file is kept.
  private static let byteLimit: Int64 = 1 << 20

  private let path: String

  /// A log at a path to which standard error leads already.
  init(path: String) {
    self.path = path
  }

  /// Appends one line, and begins a new file where the old one is full; waits for the disk.
  func append(_ line: [UInt8]) {
    let errors = FileDescriptor(owning: 2)
    try? errors.writeAll(line.span)
    if let size = try? errors.status().size, size > Self.byteLimit { rotate(errors) }
    _ = errors.release()
  }

  private func rotate(_ errors: borrowing FileDescriptor) {
    guard (try? DirectoryEntry.rename(path, to: path + ".1")) != nil,
      let fresh = try? FileDescriptor.open(path, [.write, .append, .create, .noFollow])
    else { return }
    try? fresh.replace(2)
  }
}
