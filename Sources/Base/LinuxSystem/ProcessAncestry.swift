/// A process and its ancestors, for what is shown of a client, and for consents that hold for all that a process starts.
package struct ProcessAncestry: Sendable {
  /// One process of it.
  package struct Process: Hashable, Sendable {
    /// Its number.
    package let pid: Int32
    /// When it was started, by ``BootClock``, in hundredths of a second; with the number it names one process.
    package let startedAt: Duration
    /// Its effective user; nil where that cannot be read.
    package let user: UInt32?
    /// The name of the program that it executes, of at most 15 bytes.
    package let program: String
    /// The file that it executes; nil where that cannot be read, as of another user's process, or of one that is not
    /// dumpable (prctl(2), `PR_SET_DUMPABLE`).
    package let executable: String?
    /// Whether it is the first process, or a user's service manager, from which all of a user's programs come.
    package let isManager: Bool
  }

  /// The most processes that are read: a shell in an editor in a desktop has a dozen, and an agent's tools some more.
  static let most = 32
  /// The longest path of an executable that is kept, in bytes: a longer one is cut at its beginning.
  private static let longestPath = 256
  /// The group in which a user's manager runs, with nothing else of the user's (systemd.special(7)).
  private static let managerUnit = ProcessUnit.userPrefix + "init.scope"

  /// The process, and behind it its ancestors, the nearest first, as far as they can be read.
  package let processes: [Process]

  /// Reads the processes from this one on; none where there is none of the number.
  ///
  /// A parent is never younger than its child: one that is has taken the number of the parent, and ends the chain.
  package init(of pid: Int32) {
    var processes: [Process] = []
    var next = pid
    while next > 0, processes.count < Self.most, let (process, parent) = Self.read(next) {
      guard processes.last.map({ process.startedAt <= $0.startedAt }) ?? true else { break }
      processes.append(process)
      next = parent
    }
    self.processes = processes
  }

  private static func read(_ pid: Int32) -> (Process, parent: Int32)? {
    guard let origin = ProcessIdentity.origin(of: pid) else { return nil }
    let ticks = Int64(clamping: origin.startTime)
    let start =
      Duration.seconds(ticks / PeerProcess.ticksPerSecond)
      + .milliseconds(ticks % PeerProcess.ticksPerSecond * (1000 / PeerProcess.ticksPerSecond))
    let process = Process(
      pid: pid, startedAt: start, user: ProcessIdentity.user(of: pid), program: origin.program,
      executable: SymbolicLink.target(of: "/proc/\(pid)/exe").map(shortened),
      isManager: pid == 1 || ProcessUnit.read(of: pid) == managerUnit)
    return (process, origin.parent)
  }

  /// A path, or the end of a long one.
  private static func shortened(_ path: String) -> String {
    guard path.utf8.count > longestPath else { return path }
    return "…" + String(decoding: path.utf8.suffix(longestPath).drop { $0 & 0xC0 == 0x80 }, as: UTF8.self)
  }
}
