import LinuxSystem

/// Reports the daemon's state to the service manager that has started it (sd_notify(3)).
///
/// The manager is for a broker in the foreground alone: one on demand or on standard input and output is a child of
/// some service, in whose name it must not speak.
final class ServiceReport: Sendable {
  private let socket: NotifySocket?
  /// How often the manager wants a sign of life; nil for never.
  let watchdogInterval: Duration?

  /// The manager that the environment names, if any.
  init(_ mode: DaemonArguments.Mode, _ environment: [String: String]) {
    guard mode == .owner(isOnDemand: false), let socket = try? NotifySocket(environment: environment) else {
      self.socket = nil
      watchdogInterval = nil
      return
    }
    self.socket = consume socket
    watchdogInterval = Watchdog.interval(environment: environment, pid: ProcessIdentity.pid)
  }

  /// The broker answers, or has applied or rejected a configuration; the status is one line.
  func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }

  /// The configuration is being read again, until the next ``ready(_:)``.
  func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.microseconds)") }

  /// The broker takes no new request.
  func stopping() { send("STOPPING=1\nSTATUS=stopping") }

  /// The daemon waits for a program that prints the vault's key, and needs as much longer to start.
  func waitingForKey(atMost limit: Duration) {
    let prolonged = (limit.components.seconds + 1) * 1_000_000
    send("STATUS=waiting for the vault's key command\nEXTEND_TIMEOUT_USEC=\(prolonged)")
  }

  /// The daemon ends, or did not start, for this reason, which is one line.
  func failed(_ reason: String) { send("STATUS=\(reason)") }

  /// The event loop turns.
  ///
  /// A manager that has no room for this has none for a second either: the loop does not wait.
  func isAlive() { try? socket?.send("WATCHDOG=1", mayWait: false) }

  /// Sends a message; one that cannot be sent is lost: the manager then goes by its own time limits.
  private func send(_ message: String) { try? socket?.send(message) }
}
