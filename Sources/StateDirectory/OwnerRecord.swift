import JSON
import LinuxSystem

/// What the owner of a state directory says about itself in the lock file: one line of JSON.
///
/// The lock itself, not the record, says whether there is an owner: a killed one leaves its record behind.
package struct OwnerRecord: Equatable, Sendable {
  /// The owner's process.
  package var pid: Int32
  /// The version of its program.
  package var version: String
  /// The configuration file that it uses; nil: none.
  package var configuration: String?
  /// Where it listens.
  package var socket: String
  /// Since when, RFC 3339.
  package var startedAt: String

  /// The longest record that is read: five short members, two of them paths of at most 4,096 bytes (PATH_MAX), each
  /// byte of which may be escaped with six.
  package static let longest = 64 * 1024

  /// Says everything.
  package init(pid: Int32, version: String, configuration: String?, socket: String, startedAt: String) {
    self.pid = pid
    self.version = version
    self.configuration = configuration
    self.socket = socket
    self.startedAt = startedAt
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
    }
    return writer.bytes + [UInt8(ascii: "\n")]
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
    } catch { return nil }
    guard PathName.isAbsolute(socket) else { return nil }
  }

  /// Reads the record of a lock file without locking it.
  ///
  /// - Returns: nil if there is none, or none that this user wrote.
  package init?(at path: String) {
    guard let file = try? FileDescriptor.open(path, [.read, .noFollow, .nonBlocking]) else { return nil }
    guard let status = try? file.status(), status.kind == .regular, OwnerRecord.isTrusted(status) else { return nil }
    // What is there, and some more for an owner that writes at this moment: most records are short.
    let limit = min(OwnerRecord.longest, Int(clamping: status.size) + 1024)
    guard let bytes = try? file.contents(limit: limit) else { return nil }
    self.init(decoding: bytes)
  }

  private static func isTrusted(_ status: FileStatus) -> Bool {
    status.owner == ProcessIdentity.user && !status.isOpenToOthers
  }
}
