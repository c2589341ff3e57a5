import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Addresses and time limits of a service manager; what is sent is tested end to end.
@Suite(.standardTimeLimit) struct NotifySocketTests {
  private func isOpened(_ name: String?) throws -> Bool {
    try NotifySocket(environment: name.map { ["NOTIFY_SOCKET": $0] } ?? [:]) != nil
  }

  @Test func `paths and abstract names are addresses`() throws {
    let limit = Int(UnixSocket.longestPath)
    for name in ["/run/notify", "@abstract", "/" + String(repeating: "x", count: limit - 1)] {
      #expect(try isOpened(name), "\(name)")
    }
  }

  @Test func `anything else is no manager`() throws {
    let limit = Int(UnixSocket.longestPath)
    for name in [nil, "", "/", "@", "run/notify", "vsock:2:1", "/" + String(repeating: "x", count: limit)] {
      #expect(try !isOpened(name), "\(name ?? "absent")")
    }
  }

  @Test func `a manager that is not there is an error, and not a signal`() throws {
    guard let socket = try NotifySocket(environment: ["NOTIFY_SOCKET": "/proc/nonexistent/notify"]) else {
      return #expect(Bool(false), "the path is an address")
    }
    #expect(throws: Errno.noEntry) { try socket.send("READY=1") }
  }

  @Test func `a manager that does not read is not waited for where that is not wanted`() throws {
    let scratch = Scratch()
    let path = scratch.file("notify")
    let receiver = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(receiver) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(receiver, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(bound == 0)
    guard let socket = try NotifySocket(environment: ["NOTIFY_SOCKET": path]) else {
      return #expect(Bool(false), "the path is an address")
    }
    // The queue of a datagram socket has an end (net.unix.max_dgram_qlen, and the sender's buffer).
    #expect(throws: Errno.again) {
      for _ in 0..<100_000 { try socket.send("WATCHDOG=1", mayWait: false) }
    }
  }

  @Test func `the watchdog is fed at half of its time, by the process that is meant`() {
    let (own, other) = ("\(getpid())", "1")
    let table: [(usec: String?, pid: String?, interval: Duration?)] = [
      ("30000000", own, .seconds(15)), ("30000000", nil, .seconds(15)), ("3", own, .microseconds(1)),
      ("30000000", other, nil), ("30000000", "x", nil), ("0", own, nil), ("1", own, nil), ("-5", own, nil),
      ("soon", own, nil), (nil, own, nil), (nil, nil, nil),
    ]
    for row in table {
      var environment: [String: String] = [:]
      environment["WATCHDOG_USEC"] = row.usec
      environment["WATCHDOG_PID"] = row.pid
      #expect(Watchdog.interval(environment: environment, pid: getpid()) == row.interval, "\(row)")
    }
  }

  @Test func `children are told nothing of the manager`() {
    let names = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
    var environment = Dictionary(uniqueKeysWithValues: names.map { ($0, "1") })
    environment["HOME"] = "/home/ann"
    #expect(Environment.withoutManagerVariables(environment) == ["HOME": "/home/ann"])
  }
}
