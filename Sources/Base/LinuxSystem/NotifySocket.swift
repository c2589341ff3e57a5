import CLinux

/// The datagram socket by which a service manager is told how a process is doing (sd_notify(3)).
package struct NotifySocket: ~Copyable, Sendable {
  /// How long a message waits for a manager that reads nothing: a second is long for one that lives, and short for people.
  private static let patience: Int64 = 1

  private let descriptor: FileDescriptor
  private let name: String

  /// Opens a socket to send from; nothing is sent yet.
  ///
  /// It is nil where no manager wants to be told, or where its address is none of a Unix socket (such as `vsock:2:1`).
  /// It stays open: a manager is told even when descriptors have run out.
  ///
  /// - Parameter environment: with `NOTIFY_SOCKET`.
  /// - Throws: what socket(2) says.
  package init?(environment: [String: String]) throws(Errno) {
    guard let name = environment["NOTIFY_SOCKET"], NotifySocket.isAddress(name) else { return nil }
    self.name = name
    descriptor = FileDescriptor(owning: try Errno.check(clinux_datagram_socket(NotifySocket.patience)))
  }

  /// Sends one message.
  ///
  /// - Parameters:
  ///   - message: assignments, one a line.
  ///   - mayWait: whether a full queue of the manager is waited for, a second at most.
  /// - Throws: `EAGAIN` for a manager that does not read, `ENOENT` and `ECONNREFUSED` for none.
  package borrowing func send(_ message: String, mayWait: Bool = true) throws(Errno) {
    let bytes = Array(message.utf8)
    let (number, name) = (descriptor.number, name)
    let result = unsafe bytes.withUnsafeBytes { bytes in
      // The name is NUL-terminated and the bytes are there for the length of the call, which keeps neither.
      unsafe clinux_send_datagram(number, name, bytes.baseAddress, bytes.count, mayWait ? 1 : 0)
    }
    _ = try Errno.check(result)
  }

  /// Whether a name is a path or an abstract name that fits into an address (unix(7)).
  private static func isAddress(_ name: String) -> Bool {
    guard PathName.isAbsolute(name) || name.hasPrefix("@") else { return false }
    return (2...Int(CLINUX_PATH_LIMIT)).contains(name.utf8.count)
  }
}

/// How often a service manager wants to hear that a process is alive (sd_watchdog_enabled(3)).
package enum Watchdog {
  /// Half of the time after which the manager takes the process for stuck.
  ///
  /// - Parameters:
  ///   - environment: with `WATCHDOG_USEC`, and with `WATCHDOG_PID`, which any process matches where it is absent.
  ///   - pid: of this process.
  /// - Returns: nil where the manager watches no one, or another process.
  package static func interval(environment: [String: String], pid: Int32) -> Duration? {
    guard let text = environment["WATCHDOG_USEC"], let limit = Int64(text), limit > 1 else { return nil }
    if let meant = environment["WATCHDOG_PID"], Int32(meant) != pid { return nil }
    return .microseconds(limit / 2)
  }
}
