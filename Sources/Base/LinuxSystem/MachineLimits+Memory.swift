/// How much memory a process can still get.
extension MachineLimits {
  /// More than these files ever have.
  private static let fileLimit = 64 << 10

  /// About how many bytes this process can get before the kernel ends it: the memory that the machine has left, swap
  /// included (proc_meminfo(5)), or that its control groups leave where that is less (cgroups(7), version 2).
  ///
  /// Nil where the kernel does not say, as where `/proc` is hidden.
  package static var availableMemory: Int64? {
    let machine = contents("/proc/meminfo").flatMap { available(inMachine: $0) }
    let group = contents("/proc/self/cgroup").flatMap { groupPath(in: $0) }
      .flatMap { available(inGroup: $0, contents) }
    return [machine, group].compactMap { $0 }.min()
  }

  /// The available memory by `/proc/meminfo`, in bytes.
  static func available(inMachine text: String) -> Int64? {
    guard let memory = number(after: "MemAvailable:", in: text) else { return nil }
    return (memory + (number(after: "SwapFree:", in: text) ?? 0)) * 1024
  }

  /// The path of a process's control group in `/proc/self/cgroup`.
  static func groupPath(in text: String) -> String? {
    text.split(separator: "\n").first { $0.hasPrefix("0::/") }.map { String($0.dropFirst("0::".utf8.count)) }
  }

  /// The least that a control group and those above it leave; what is only cached can be reclaimed and is not counted.
  ///
  /// The uppermost has a limit too where it is that of a container (cgroup_namespaces(7)).
  ///
  /// - Parameters:
  ///   - path: the group's.
  ///   - contents: what a file has in it; nil where there is none.
  /// - Returns: bytes; nil where no group has a limit.
  static func available(inGroup path: String, _ contents: (String) -> String?) -> Int64? {
    var (group, least) = (path, Int64?.none)
    while true {
      let place = "/sys/fs/cgroup" + (group == "/" ? "" : group)
      let limit = contents(place + "/memory.max").flatMap { Int64($0.prefix { $0.isNumber }) }
      let used = contents(place + "/memory.stat").flatMap { number(after: "anon", in: $0) }
      if let limit, let used { least = min(least ?? .max, max(limit - used, 0)) }
      guard group != "/" else { return least }
      group = PathName.directory(of: group)
    }
  }

  /// The number behind a name at the beginning of a line; nil for none, or one that no machine has.
  private static func number(after name: String, in text: String) -> Int64? {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count >= 2, words[0] == name, let number = Int64(words[1]), (0...1 << 50).contains(number) else {
        continue
      }
      return number
    }
    return nil
  }

  private static func contents(_ path: String) -> String? {
    guard let file = try? FileDescriptor.open(path, .read), let bytes = try? file.contents(limit: fileLimit) else {
      return nil
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
