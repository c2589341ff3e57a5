import JSON
package import LinuxSystem

/// The record of the owner of a state directory in its lock file: one line of JSON.
///
/// The lock itself, not the record, says whether there is an owner: a killed one leaves its record behind.
package struct OwnerRecord: Equatable, Sendable {
  /// The owner's process.
  package var pid: Int32
  /// The version of its program.
  package var version: String
  /// The configuration file that it uses; nil: none.
  package var configuration: String?
  /// The path of its socket.
  package var socket: String
  /// Since when, RFC 3339.
  package var startedAt: String
  /// When the process was started, in clock ticks since the machine was; nil where the kernel does not say, or its version
  /// did not note it.
  package var startTime: UInt64?

  /// The longest record that is read: five short members, two of them paths of at most 4,096 bytes (PATH_MAX), each
  /// byte of which may be escaped with six.
  package static let longest = 64 * 1024

  /// Says everything.
  package init(
    pid: Int32, version: String, configuration: String?, socket: String, startedAt: String, startTime: UInt64? = nil
  ) {
    self.pid = pid
    self.version = version
    self.configuration = configuration
    self.socket = socket
    self.startedAt = startedAt
    self.startTime = startTime
  }

  /// The line, with its end.
  package func encoded() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("pid", Int(pid))
      writer.member("version", version)
      writer.key("config")
      if let configuration { writer.string(configuration) } else { writer.null() }
      writer.member("socket", socket)
      writer.member("startedAt", startedAt)
      if let startTime { writer.member("startTime", Int(clamping: startTime)) }
    }
    return writer.bytes + [UInt8(ascii: "\n")]
  }

  /// The line of an owner that has the lock and does not listen yet: which process it is.
  package static func beginning(pid: Int32, startTime: UInt64?) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("pid", Int(pid))
      if let startTime { writer.member("startTime", Int(clamping: startTime)) }
    }
    return writer.bytes + [UInt8(ascii: "\n")]
  }

  /// Whether an owner may have written this: nothing at all, or an object that names a process.
  package static func isRecord(_ bytes: [UInt8]) -> Bool {
    guard let root = try? JSONDocument(parsing: bytes).root else { return bytes.isEmpty }
    return (try? root["pid"]?.integer()) ?? nil != nil
  }

  /// Reads a line; nil if it is no record: empty after an orderly end, or cut short while it is written.
  package init?(decoding bytes: [UInt8]) {
    guard let root = try? JSONDocument(parsing: bytes).root else { return nil }
    do throws(JSONMismatch) {
      let number = try root.required("pid").integer()
      guard let pid = Int32(exactly: number), pid > 0 else { return nil }
      self.pid = pid
      version = try root.required("version").string()
      configuration = try root.optional("config", String.init(from:))
      socket = try root.required("socket").string()
      startedAt = try root.required("startedAt").string()
      startTime = try root.optional("startTime", Self.startTime)
    } catch { return nil }
    guard PathName.isAbsolute(socket) else { return nil }
  }

  /// Reads the record of a lock file without locking it.
  ///
  /// - Returns: nil if there is none, or none that this user wrote.
  package init?(at path: String) {
    guard let bytes = OwnerRecord.contents(of: path) else { return nil }
    self.init(decoding: bytes)
  }

  /// The process that owns a state directory, by the record in its lock: its number and the time of its start are those of
  /// a process that lives, and that one holds the lock until its end.
  ///
  /// - Parameter path: of the lock.
  /// - Returns: nil where no process holds the lock, where its record does not name it (yet), or the kernel does not tell
  ///   of processes.
  package static func owner(of path: String) -> ProcessHandle? {
    guard FileLock.isHeld(path) else { return nil }
    guard let bytes = contents(of: path), let root = try? JSONDocument(parsing: bytes).root,
      let number = try? root.required("pid").integer(), let pid = Int32(exactly: number), pid > 1,
      let startTime = try? root.optional("startTime", startTime)
    else { return lockHolder(of: path) }
    return try? ProcessHandle(pid, startedAt: startTime)
  }

  /// The process that holds the lock, by the kernel, for a record without a time.
  private static func lockHolder(of path: String) -> ProcessHandle? {
    guard let pid = FileLock.holder(of: path), let process = try? ProcessHandle(pid), FileLock.holder(of: path) == pid
    else { return nil }
    return process
  }

  private static func startTime(_ node: JSONNode) throws(JSONMismatch) -> UInt64 {
    UInt64(clamping: try node.integer())
  }

  private static func contents(of path: String) -> [UInt8]? {
    guard let file = try? FileDescriptor.open(path, [.read, .noFollow, .nonBlocking]) else { return nil }
    guard let status = try? file.status(), status.kind == .regular, OwnerRecord.isTrusted(status) else { return nil }
    // What is there, and some more for an owner that writes at this moment: most records are short.
    return try? file.contents(limit: min(OwnerRecord.longest, Int(clamping: status.size) + 1024))
  }

  private static func isTrusted(_ status: FileStatus) -> Bool {
    status.owner == ProcessIdentity.user && !status.isOpenToOthers
  }
}
