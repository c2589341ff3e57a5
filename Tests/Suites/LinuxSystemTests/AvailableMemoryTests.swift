import TestSupport
import Testing

@testable import LinuxSystem

/// What the kernel's own texts say of the memory that is left.
@Suite(.standardTimeLimit) struct AvailableMemoryTests {
  private static let machine = """
    MemTotal:       16303428 kB
    MemFree:         1183240 kB
    MemAvailable:    9121536 kB
    SwapCached:            8 kB
    SwapTotal:       2097148 kB
    SwapFree:        1048576 kB
    HugePages_Total:       0

    """
  private static let statistics = "anon 104857600\nfile 838860800\nanon_thp 4194304\nswapcached 0\n"

  @Test func `a machine has what is available, and its swap`() {
    #expect(MachineLimits.available(inMachine: Self.machine) == Int64((9_121_536 + 1_048_576) * 1024))
    #expect(MachineLimits.available(inMachine: "MemAvailable:    9121536 kB\n") == Int64(9_121_536 * 1024))
    #expect(MachineLimits.available(inMachine: "MemAvailable: 0 kB\nSwapFree: 0 kB") == 0)
  }

  @Test(arguments: [
    "", "MemFree: 1 kB\n", "MemAvailable:", "MemAvailable: many kB", "MemAvailable: -1 kB",
    "MemAvailable: 99999999999999999999 kB", "MemAvailable: 9223372036854775807 kB", "XMemAvailable: 1 kB",
  ])
  func `a text that does not say it says nothing`(text: String) {
    #expect(MachineLimits.available(inMachine: text) == nil)
  }

  @Test(
    arguments: [
      ("0::/user.slice/user-1000.slice/session-2.scope\n", "/user.slice/user-1000.slice/session-2.scope"),
      ("12:memory:/docker/abc\n1:name=systemd:/docker/abc\n0::/docker/abc\n", "/docker/abc"), ("0::/\n", "/"),
      ("12:memory:/docker/abc\n", nil), ("", nil), ("0::\n", nil),
    ] as [(String, String?)])
  func `the group of version 2 is taken`(text: String, path: String?) {
    #expect(MachineLimits.groupPath(in: text) == path)
  }

  /// 500 MiB, of which the statistics have 100 used up.
  private static let limit = "524288000\n"

  @Test(
    arguments: [
      (["/a/b/memory.max": limit, "/a/b/memory.stat": statistics], 419_430_400),
      (["/a/memory.max": limit, "/a/memory.stat": statistics], 419_430_400),
      // That of a container, whose own groups lie below it.
      (["/memory.max": limit, "/memory.stat": statistics], 419_430_400),
      (["/a/b/memory.max": "max\n", "/a/b/memory.stat": statistics], nil),
      (
        [
          "/a/b/memory.max": limit, "/a/b/memory.stat": "anon 0\n", "/a/memory.max": "209715200\n",
          "/a/memory.stat": statistics,
        ], 104_857_600
      ),
      (["/a/b/memory.max": "1048576\n", "/a/b/memory.stat": statistics], 0),
      (["/a/b/memory.max": limit], nil), (["/a/b/memory.max": "", "/a/b/memory.stat": statistics], nil), ([:], nil),
    ] as [([String: String], Int64?)])
  func `a group leaves what its limit and those above it leave`(files: [String: String], expected: Int64?) {
    let root = "/sys/fs/cgroup"
    let left = MachineLimits.available(inGroup: "/a/b") { path in
      path.hasPrefix(root) ? files[String(path.dropFirst(root.count))] : nil
    }
    #expect(left == expected)
  }

  @Test func `this machine says something that can be believed`() throws {
    let available = try #require(MachineLimits.availableMemory)
    #expect(available > 0 && available < 1 << 50)
  }
}
