/// The systemd unit of a process, by its control group (cgroups(7), `/proc/PID/cgroup`).
///
/// A unit of the system has its plain name, `backup.service`. One of a user's own manager has `user/` in front,
/// `user/editor.service`, which no name of the system's can have: the user's programs can make such a unit under any name.
package enum ProcessUnit {
  /// The beginning of the names of units of a user's manager.
  package static let userPrefix = "user/"
  /// The longest name that systemd takes (systemd.unit(5)).
  private static let longestName = 255
  /// The hierarchy of systemd where it uses version 1.
  fileprivate static let firstVersion = "name=systemd"
  /// The kinds of unit that have processes.
  private static let kinds = [".service", ".scope"]
  /// Longer than the file of any process: a line for each hierarchy, with a path.
  private static let longestText = 16 << 10

  /// The unit of a process; nil where it has none, or `/proc` does not tell.
  package static func read(of pid: Int32) -> String? { text(of: pid).flatMap(name(in:)) }

  /// The control groups of a process, a line for each hierarchy.
  fileprivate static func text(of pid: Int32) -> String? {
    guard pid > 0, let file = try? FileDescriptor.open("/proc/\(pid)/cgroup", .read) else { return nil }
    // The kernel gives it whole, with one call.
    var text = [UInt8](repeating: 0, count: longestText)
    guard case .bytes(let count) = file.read(into: &text), count < longestText else { return nil }
    return String(decoding: text[..<count], as: UTF8.self)
  }

  /// The unit in the text of such a file.
  ///
  /// The hierarchy of systemd is `name=systemd` in version 1 of control groups, and the only one in version 2. Where a
  /// machine has both, they must not name two units.
  package static func name(in text: String) -> String? {
    var found: String?
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, fields[1] == firstVersion || fields[0] == "0" && fields[1].isEmpty,
        let unit = name(ofGroup: fields[2])
      else { continue }
      guard found == nil || found == unit else { return nil }
      found = unit
    }
    return found
  }

  /// The unit of a control group: the first service or scope below slices; nil for the groups of container engines and
  /// others that systemd does not know.
  private static func name(ofGroup path: Substring) -> String? {
    guard path.utf8.first == UInt8(ascii: "/") else { return nil }
    var rest = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)[...]
    guard let unit = takeUnit(&rest) else { return nil }
    guard unit.hasPrefix("user@"), unit.hasSuffix(".service") else { return unit }
    // Below the manager of a user, the groups are the user's own.
    return takeUnit(&rest).map { userPrefix + $0 }
  }

  private static func takeUnit(_ components: inout ArraySlice<Substring>) -> String? {
    while let component = components.popFirst() {
      guard let name = unescaped(component) else { return nil }
      if kinds.contains(where: { name.utf8.count > $0.utf8.count && name.hasSuffix($0) }) { return name }
      guard name.hasSuffix(".slice") else { return nil }
    }
    return nil
  }

  /// The name of a unit; nil for what can be none.
  ///
  /// systemd puts `_` before one that the kernel could take for a file of its own.
  private static func unescaped(_ component: Substring) -> String? {
    let name = component.utf8.first == UInt8(ascii: "_") ? component.dropFirst() : component
    guard (1...longestName).contains(name.utf8.count), name.utf8.allSatisfy(isOfName) else { return nil }
    return String(name)
  }

  /// Whether a name of a unit may have a byte (systemd.unit(5)).
  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "."),
      UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: "\\"):
      true
    default: false
    }
  }
}

/// The units of control groups.
///
/// The number of a group of version 2 is never another one's, and its unit stays the same: the unit of a process in a group
/// that is known is one question to the kernel. Where systemd uses version 1, and on a kernel before 6.13, each process is
/// looked up.
package struct ProcessUnits {
  /// The most that are known: each of a session's programs has its own.
  private static let mostKnown = 1024

  private var known: [UInt64: String?] = [:]

  /// None yet.
  package init() {}

  /// The unit of a process; nil where it has none, or has gone.
  package mutating func unit(of process: ProcessHandle) -> String? {
    let group = process.group
    if let group, let unit = known[group] { return unit }
    guard let text = ProcessUnit.text(of: process.pid), process.exists else { return nil }
    // Behind the reading: as long as it is not gone, the number was its own.
    let unit = ProcessUnit.name(in: text)
    // The process may have been moved meanwhile.
    let isLasting = !text.split(separator: ":").contains(Substring(ProcessUnit.firstVersion))
    if let group, isLasting, process.group == group {
      if known.count >= Self.mostKnown { known = [:] }
      known[group] = .some(unit)
    }
    return unit
  }
}
