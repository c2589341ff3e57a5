/// What a child has started.
extension ChildProcess {
  /// The most processes of a tree that are looked for: a pipeline of a person's has a few.
  private static let treeLimit = 64

  /// The child and every process below it that is there now, parents first; of use before `wait` only.
  ///
  /// For a child that shares this process's group, since it needs the terminal: its descendants cannot be named
  /// otherwise. A kernel without `/proc/PID/task/PID/children` (proc(5)) names none.
  package var tree: [Int32] {
    var processes = [pid]
    var index = 0
    while index < processes.count, processes.count < Self.treeLimit {
      processes += Self.children(of: processes[index])
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
