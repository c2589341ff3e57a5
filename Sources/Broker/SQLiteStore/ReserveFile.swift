import LinuxSystem

/// Disk space that is reserved for a change that finds the disk full: a logout, a token that was just rotated.
struct ReserveFile {
  /// Enough for the write-ahead log of a few changes, and little beside any database.
  private static let byteCount: Int64 = 256 << 10

  private let path: String

  /// The reserve beside a database.
  init(ofDatabase path: String) { self.path = path + ".reserve" }

  /// Whether the reserve exists: it is made when a vault was opened, and so after one was made.
  var isTaken: Bool { (try? FileStatus.ofLink(path)) != nil }

  /// Takes the room, unless it is taken already.
  ///
  /// - Returns: whether it is taken now; not so where the disk has no such room.
  @discardableResult
  func take() -> Bool {
    if let status = try? FileStatus.ofLink(path) {
      if status.kind == .regular, status.linkCount == 1, status.size == Self.byteCount { return true }
      // A file with a second name is another one's, too: nothing is written into it.
      release()
    }
    do {
      let file = try FileDescriptor.open(path, [.write, .create, .exclusive, .noFollow])
      try file.allocate(byteCount: Self.byteCount)
      return true
    } catch {
      release()
      return false
    }
  }

  /// Frees the room for the quickest writer.
  func release() { try? DirectoryEntry.remove(path) }
}
