import Glibc
import LinuxSystem

/// One of two processors, so that an attack is measured by what the daemon does and not by what the scheduler does: the
/// flood and the daemon share one, a well-behaved client has the other (taskset(1)).
///
/// Where this process may use a single processor everything stays where it is.
enum Processor: Int {
  case first, second

  /// Whether this process may use two processors.
  static var areTwo: Bool { pair.count == 2 }

  /// The numbers of the first two processors that this process may use (proc(5), `Cpus_allowed_list`); empty where there
  /// are fewer.
  private static let pair: [Int] = {
    guard let file = try? FileDescriptor.open("/proc/self/status", .read),
      let bytes = try? file.contents(limit: 1 << 16)
    else { return [] }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    let list = lines.first { $0.hasPrefix("Cpus_allowed_list:") }?.split(separator: "\t").last ?? ""
    let usable = list.split(separator: ",").flatMap { range in
      let ends = range.split(separator: "-").compactMap { Int($0) }
      return ends.isEmpty ? [] : Array(ends[0]...max(ends[0], ends[ends.count - 1]))
    }
    return usable.count < 2 ? [] : Array(usable.prefix(2))
  }()

  /// Holds the calling thread on it.
  func hold() {
    var name = [CChar](repeating: 0, count: 64)
    guard readlink("/proc/thread-self", &name, name.count - 1) > 0 else { return }
    let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    hold("-cp", path.split(separator: "/").last.flatMap { Int32($0) })
  }

  /// Holds every thread of a process on it, and with them the threads that these start.
  func hold(_ process: Int32) { hold("-acp", process) }

  private func hold(_ option: String, _ task: Int32?) {
    guard let task, Self.areTwo else { return }
    system("taskset \(option) \(Self.pair[rawValue]) \(task) > /dev/null")
  }
}
