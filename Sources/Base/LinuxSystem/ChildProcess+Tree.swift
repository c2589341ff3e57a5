/// The processes that a child has started.
extension ChildProcess {
  /// The most processes of a tree that are looked for: a pipeline of a person's has a few.
  private static let treeLimit = 64

  /// The child and every process below it that is there now, parents first; of use before `wait` only.
  ///
  /// For a child that shares this process's group, since it needs the terminal: its descendants cannot be named
  /// otherwise. A kernel without `/proc/PID/task/PID/children` (proc(5)) names none.
  package var tree: [ProcessHandle] {
    // Until `wait`, no other process has the child's number.
    var processes = [try? ProcessHandle(pid)].compactMap { $0 }
    var index = 0
    while index < processes.count, processes.count < Self.treeLimit {
      let parent = processes[index].pid
      let children = Self.children(of: parent).compactMap { try? ProcessHandle($0) }
      // One that has ended meanwhile may have left its number to a process that is none of them.
      let stillThere = Self.children(of: parent)
      processes += children.filter { stillThere.contains($0.pid) }
      index += 1
    }
    return processes
  }

  private static func children(of process: Int32) -> [Int32] {
    guard let file = try? FileDescriptor.open("/proc/\(process)/task/\(process)/children", .read) else { return [] }
    var text = [UInt8](repeating: 0, count: 4096)
    guard case .bytes(let count) = file.read(into: &text) else { return [] }
    return text[..<count].split(separator: UInt8(ascii: " ")).compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
  }
}
