import Glibc
import LinuxSystem

/// The memory of another process, as the kernel shows it to root (proc(5)).
struct ProcessMemory {
  /// What a mapping is used for.
  enum Use: String, CaseIterable {
    /// Left out of core files: where secrets belong.
    case arena
    /// The stack of a thread.
    case stack
    /// malloc's memory: the break, or an anonymous mapping.
    case heap
    /// Variables of the program and of its libraries.
    case data
  }

  /// One mapping.
  struct Region {
    let start: UInt
    let byteCount: Int
    let permissions: String
    let path: String
    /// The two-letter words of `VmFlags`.
    let flags: Set<String>
    /// How much of it is the process's own, in KiB: what a core file would hold.
    let ownKiB: Int
    let use: Use
  }

  let regions: [Region]
  private let pid: Int32

  /// Reads the mappings of a process that stands still.
  init(of pid: Int32) throws {
    self.pid = pid
    let text = String(decoding: try Directory.bytes(of: "/proc/\(pid)/smaps"), as: UTF8.self)
    let stacks = try Self.stackPointers(of: pid)
    var regions: [Region] = []
    var lines: [[Substring]] = []
    for line in text.split(separator: "\n") {
      lines.append(line.split(separator: " "))
      guard line.hasPrefix("VmFlags:") else { continue }
      regions.append(try Self.region(lines, stacks))
      lines = []
    }
    self.regions = regions
  }

  /// The lines about one mapping; the first has its addresses, the last its flags.
  private static func region(_ lines: [[Substring]], _ stacks: [UInt]) throws -> Region {
    guard let head = lines.first, let flags = lines.last, head.count >= 5,
      case let ends = head[0].split(separator: "-").compactMap({ UInt($0, radix: 16) }), ends.count == 2
    else { throw TestFailure("smaps is not as proc(5) says") }
    let words = Set(flags.dropFirst().map(String.init))
    let path = head.count > 5 ? String(head[5]) : ""
    let own = lines.first { $0.first == "Anonymous:" }.flatMap { Int($0[1]) } ?? 0
    let use: Use =
      if words.contains("dd") {
        .arena
      } else if path == "[stack]" || stacks.contains(where: { (ends[0]..<ends[1]).contains($0) }) {
        .stack
      } else if path == "[heap]" || path.isEmpty { .heap } else { .data }
    return Region(
      start: ends[0], byteCount: Int(ends[1] - ends[0]), permissions: String(head[1]), path: path, flags: words,
      ownKiB: own, use: use)
  }

  /// Where the stacks of all threads end: the last but one number of `/proc/<pid>/task/<tid>/syscall`.
  private static func stackPointers(of pid: Int32) throws -> [UInt] {
    try Directory.names(in: "/proc/\(pid)/task").compactMap { thread in
      let text = String(decoding: try Directory.bytes(of: "/proc/\(pid)/task/\(thread)/syscall"), as: UTF8.self)
      let words = text.split { $0 == " " || $0 == "\n" }
      return words.count < 3 ? nil : UInt(words[words.count - 2].dropFirst(2), radix: 16)
    }
  }

  /// The mappings that hold anything of the process's own.
  var ownRegions: [Region] { regions.filter { $0.ownKiB > 0 && !$0.path.hasPrefix("[v") } }

  /// The bytes of a mapping.
  func bytes(of region: Region) throws -> [UInt8] {
    let descriptor = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Errno(code: errno) }
    defer { close(descriptor) }
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: region.byteCount) { buffer, initialized in
      while count < region.byteCount, let start = buffer.baseAddress {
        let step = pread(descriptor, start + count, region.byteCount - count, off_t(region.start) + off_t(count))
        guard step > 0 else { break }
        count += step
      }
      initialized = count
    }
    guard count == region.byteCount else { throw TestFailure("the memory of \(pid) cannot be read: errno \(errno)") }
    return bytes
  }
}
