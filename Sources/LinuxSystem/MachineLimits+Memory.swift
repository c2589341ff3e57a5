/// How much memory a process can still get.
extension MachineLimits {
  /// More than these files ever have.
  private static let fileLimit = 64 << 10

  /// About how many bytes this process can get before the kernel ends it: what the machine has left, swap included
  /// (proc_meminfo(5)), or what its control groups leave it where that is less (cgroups(7), version 2).
  ///
  /// Nil where the kernel says nothing, as where `/proc` is hidden.
  package static var availableMemory: Int64? {
    let machine = contents("/proc/meminfo").flatMap { available(inMachine: $0) }
    let group = contents("/proc/self/cgroup").flatMap { groupPath(in: $0) }.flatMap { available(inGroup: $0) }
    return [machine, group].compactMap(\.self).min()
  }

  /// What `/proc/meminfo` says is left, in bytes.
  static func available(inMachine text: String) -> Int64? {
    guard let memory = number(after: "MemAvailable:", in: text) else { return nil }
    return (memory + (number(after: "SwapFree:", in: text) ?? 0)) * 1024
  }

  /// The path of a process's control group from what `/proc/self/cgroup` says.
  static func groupPath(in text: String) -> String? {
    text.split(separator: "\n").first { $0.hasPrefix("0::/") }.map { String($0.dropFirst("0::".utf8.count)) }
  }

  /// The least that a control group and those above it leave; what is only cached can be reclaimed and is not counted.
  private static func available(inGroup path: String) -> Int64? {
    var (place, least) = ("/sys/fs/cgroup" + path, Int64?.none)
    while place.hasPrefix("/sys/fs/cgroup/") {
      let limit = contents(place + "/memory.max").flatMap { Int64($0.prefix { $0.isNumber }) }
      let used = contents(place + "/memory.stat").flatMap { number(after: "anon", in: $0) }
      if let limit, let used { least = min(least ?? .max, max(limit - used, 0)) }
      place = PathName.directory(of: place)
    }
    return least
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
