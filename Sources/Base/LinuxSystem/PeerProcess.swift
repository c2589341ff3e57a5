import CLinux

/// The process at the other end of a connection, beyond its credentials: by its systemd unit, and by the label that a
/// security module gives it.
package struct PeerProcess: Hashable, Sendable {
  /// Its unit, as ``ProcessUnit`` names it; nil where it has none, or it is not certain whose that is.
  package let unit: String?
  /// Its label by AppArmor, SELinux or Smack when it connected; nil where no such module is in use.
  package let label: String?

  /// A process of this unit and label.
  package init(unit: String?, label: String?) { (self.unit, self.label) = (unit, label) }

  /// Asks the kernel about the peer of a connected Unix socket.
  ///
  /// - Parameters:
  ///   - descriptor: the socket.
  ///   - pid: its peer's number, as `SO_PEERCRED` names it.
  ///   - acceptance: when the connection was accepted, by ``BootClock``: a process that is younger has not made it.
  ///   - units: the units of control groups that are known.
  /// - Returns: the process, and the means to hold it, which older kernels have not.
  package static func identify(
    at descriptor: borrowing FileDescriptor, pid: Int32, acceptedAt acceptance: Duration, _ units: inout ProcessUnits
  ) -> (peer: PeerProcess, handle: ProcessHandle?) {
    let label = label(of: descriptor)
    // 0 is a process that is not in this PID namespace.
    guard pid > 0 else { return (PeerProcess(unit: nil, label: label), nil) }
    do throws(Errno) {
      let handle = try ProcessHandle(peerOf: descriptor, pid)
      return (PeerProcess(unit: units.unit(of: handle), label: label), handle)
    } catch {
      // One that has ended is no reason to trust its number.
      let unit = error.code == ENOPROTOOPT ? unitBySecondLook(of: pid, acceptedAt: acceptance) : nil
      return (PeerProcess(unit: unit, label: label), nil)
    }
  }

  /// A process by its number, as it is now: for what is shown, and not for what is allowed.
  package init(running pid: Int32) {
    let bytes = try? FileDescriptor.open("/proc/\(pid)/attr/current", .read).contents(limit: Self.longestLabel)
    self.init(unit: ProcessUnit.read(of: pid), label: Self.label(in: (bytes ?? [])[...]))
  }

  // MARK: The unit

  /// The unit on a kernel that holds no process for us: read between two looks at when the process was started.
  ///
  /// The number may have become another process's between the connection and its acceptance: the unit is then a label
  /// and no boundary.
  package static func unitBySecondLook(of pid: Int32, acceptedAt acceptance: Duration) -> String? {
    guard let start = ProcessIdentity.startTime(of: pid), !isYounger(start, than: acceptance) else { return nil }
    let unit = ProcessUnit.read(of: pid)
    return ProcessIdentity.startTime(of: pid) == start ? unit : nil
  }

  /// Whether a number still is that of the process which made a connection: asked behind what was read by that number.
  ///
  /// - Parameters:
  ///   - pid: the number, as `SO_PEERCRED` names it.
  ///   - descriptor: the socket.
  ///   - acceptance: when the connection was accepted, by ``BootClock``.
  /// - Returns: as certain as the kernel lets it be: without `SO_PEERPIDFD`, whether the process is old enough.
  package static func isStill(_ pid: Int32, at descriptor: borrowing FileDescriptor, acceptedAt acceptance: Duration)
    -> Bool
  {
    do throws(Errno) { return try ProcessHandle(peerOf: descriptor, pid).exists } catch {
      return error.code == ENOPROTOOPT && mayBeSame(pid, acceptedAt: acceptance)
    }
  }

  /// The ticks in which Linux tells programs the times of processes (proc(5), `USER_HZ`), 100 on every machine of today.
  static let ticksPerSecond: Int64 = 100

  private static func isYounger(_ start: UInt64, than acceptance: Duration) -> Bool {
    start > UInt64(clamping: acceptance.wholeNanoseconds / (1_000_000_000 / ticksPerSecond))
  }

  /// Whether a process with this number is the one that made a connection, as far as its age tells.
  package static func mayBeSame(_ pid: Int32, acceptedAt acceptance: Duration) -> Bool {
    ProcessIdentity.startTime(of: pid).map { !isYounger($0, than: acceptance) } ?? false
  }

  // MARK: The label

  /// Longer than any label; the kernel has no bound of its own.
  private static let longestLabel = 4096

  private static func label(of descriptor: borrowing FileDescriptor) -> String? {
    var buffer = [UInt8](repeating: 0, count: longestLabel)
    let number = descriptor.number
    // The pointer is used inside the closure only, and the kernel writes at most `count` bytes.
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      // As above.
      unsafe clinux_peer_label(number, bytes.baseAddress, bytes.count)
    }
    return count > 0 ? label(in: buffer[..<Int(count)]) : nil
  }

  /// The label in what the kernel gives: without the NUL that SELinux ends it with, and without the mode, such as
  /// ` (enforce)`, that AppArmor adds.
  package static func label(in bytes: ArraySlice<UInt8>) -> String? {
    var bytes = bytes
    while bytes.last == 0 || bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: ")"), let blank = bytes.lastIndex(of: UInt8(ascii: " ")),
      bytes[(blank + 1)...].first == UInt8(ascii: "(")
    {
      bytes = bytes[..<blank]
    }
    guard !bytes.isEmpty, bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: The kernel

  /// The abilities of this machine's kernel.
  package struct Abilities: Equatable, Sendable {
    /// Whether it holds the process at the other end (`SO_PEERPIDFD`, Linux 6.5), so that its unit is certain.
    package var holdsProcess: Bool
    /// Whether a security module labels connections (`SO_PEERSEC`).
    package var labels: Bool

    /// These abilities.
    package init(holdsProcess: Bool, labels: Bool) { (self.holdsProcess, self.labels) = (holdsProcess, labels) }
  }

  /// Asks the kernel, by a connection of this process with itself.
  package static func abilities() -> Abilities {
    guard let pair = try? UnixSocket.pair() else { return Abilities(holdsProcess: true, labels: true) }
    let handle = clinux_peer_pidfd(pair.first.number)
    if handle >= 0 { FileDescriptor(owning: handle).close() }
    return Abilities(holdsProcess: handle != -ENOPROTOOPT, labels: label(of: pair.first) != nil)
  }
}
