import Glibc

/// One of two processors, so that an attack is measured by what the daemon does and not by what the scheduler does: the
/// flood and the daemon share one, a well-behaved client has the other (taskset(1)).
///
/// On a machine with a single processor everybody stays where they are.
enum Processor: Int {
  case first, second

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
    guard let task, sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 else { return }
    system("taskset \(option) \(rawValue) \(task) > /dev/null")
  }
}
