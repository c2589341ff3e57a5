import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// What a token costs, counted by the kernel: system calls, page faults, waits for the disk.
///
/// While no client asks, nothing. The bounds are in ``CountBounds``.
@Suite(.standardTimeLimit, .enabled(if: !Patience.isInstrumented, "a sanitizer makes system calls of its own"))
struct CountTests {
  private static let strace = "/usr/bin/strace"
  private static let request = Array(#"{"jsonrpc":"2.0","id":7,"method":"getAccessToken"}"#.utf8)
  private static let refresh = #"{"jsonrpc":"2.0","id":8,"method":"getAccessToken","params":{"forceRefresh":true}}"#

  /// A configuration with so many rules, of which the last one alone is for the clients of a test.
  private static func configuration(rules count: Int) -> String {
    let others = (1..<max(count, 1)).map { #"{ client: { unit: "none-\#($0)-*.service", uid: \#(100_000 + $0) } }"# }
    let rules = count > 0 ? ", access: { rules: [\((others + ["{}"]).joined(separator: ","))] }" : ""
    return #"{ profiles: { default: { provider: "local" } }\#(rules) }"#
  }

  @Test(.needsRoot, arguments: [0, 1000])
  func `a cached token on a kept connection is a wait, a read and a send, however many rules there are`(
    _ rules: Int
  ) async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner(try sandbox.configure(Self.configuration(rules: rules)))
      let first = try SocketWire(sandbox.socket)
      try first.register()
      _ = try first.accessToken()
      if rules > 0 {
        // The audit writes an entry for the first token, half a second later, and none for those that follow.
        try first.prove()
        #expect(try first.call("readAudit").required("entries").elements().count == 2)
      }
      let count = 200
      let trace = try Self.trace(owner, in: sandbox) {
        let wire = try SocketWire(sandbox.socket)
        for _ in 0..<count {
          try wire.send(Self.request)
          guard try wire.nextNode()["result"] != nil else { throw TestFailure("no token") }
        }
      }
      #expect(trace.count(of: "sendto") >= count, "strace has seen the answers")
      // Where a rule names a unit, the kernel is asked for that of the new connection, once.
      let identity = rules > 0 ? CountBounds.callsOfIdentity : 0
      let most = count * CountBounds.callsOfRequest + CountBounds.callsOfConnection + identity
      #expect(trace.callCount <= most, "\(trace.names)")
      for name in ["mmap", "brk", "munmap", "fdatasync", "fsync", "pwrite64"] {
        #expect(trace.count(of: name) == 0, "\(name)")
      }
      for name in ["openat", "pread64"] { #expect(trace.count(of: name) <= identity, "\(name)") }
    }
  }

  @Test(.needsRoot) func `a cached token by a remembered consent is a wait, a read and a send as well`() async throws {
    try await Sandbox.run { sandbox in
      let text =
        #"{ profiles: { default: { provider: "local" } }, access: { rules: [{ confirm: "once" }], "#
        + #"confirm: { command: ["true"], rememberSeconds: 3600 } } }"#
      let owner = try sandbox.owner(try sandbox.configure(text))
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      // The owner's program consents to the first one.
      _ = try wire.accessToken()
      let count = 200
      let trace = try Self.trace(owner, in: sandbox) {
        for _ in 0..<count {
          try wire.send(Self.request)
          guard try wire.nextNode()["result"] != nil else { throw TestFailure("no token") }
        }
      }
      #expect(trace.count(of: "sendto") >= count, "strace has seen the answers")
      #expect(trace.callCount <= count * CountBounds.callsOfRequest + CountBounds.callsOfConnection, "\(trace.names)")
      for name in ["mmap", "brk", "openat", "readlink", "fdatasync", "fsync"] {
        #expect(trace.count(of: name) == 0, "\(name)")
      }
    }
  }

  @Test func `a thousand cached tokens touch no new page`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      func ask(_ count: Int) throws {
        for _ in 0..<count {
          try wire.send(Self.request)
          guard try wire.nextNode()["result"] != nil else { throw TestFailure("no token") }
        }
      }
      try ask(1000)
      let before = try Self.faults(of: owner.pid)
      try ask(1000)
      #expect(try Self.faults(of: owner.pid) - before <= CountBounds.faultsOfThousandRequests)
    }
  }

  @Test func `the process asks once, and makes no more calls and faults than its bounds say`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let file = sandbox.root + "/command.trace"
      let outcome = try sandbox.run(
        Self.tool(), ["-f", "-qq", "-o", file, BuiltPrograms.command, "--state", sandbox.state, "token"])
      #expect(outcome.code == 0 && outcome.output.hasPrefix("ey"), "\(outcome.errors)")
      let trace = Trace(String(decoding: try Directory.bytes(of: file), as: UTF8.self))
      #expect(trace.callCount <= CountBounds.callsOfProcess, "\(trace.names)")
      #expect(trace.count(of: "connect") == 1 && trace.count(of: "execve") == 1)
      #expect(trace.count(of: "sendto") + trace.count(of: "sendmsg") <= CountBounds.questionsOfProcess)
      #expect(trace.count(of: "clone") + trace.count(of: "clone3") == 0, "it starts no thread")
      #expect(try Self.faultsOfCommand(in: sandbox) <= CountBounds.faultsOfProcess)
    }
  }

  @Test(.needsRoot) func `a refresh waits for the disk as often as it must`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      let trace = try Self.trace(owner, in: sandbox) {
        guard try wire.ask(Self.refresh)["result"] != nil else { throw TestFailure("no refresh") }
      }
      let syncs = trace.count(of: "fdatasync") + trace.count(of: "fsync")
      #expect((1...CountBounds.syncsOfRefresh).contains(syncs), "\(trace.names)")
    }
  }

  /// Every thread waits without an end, and the timer of deadlines is not set: nothing wakes the process up.
  @Test(.needsRoot) func `an idle broker is never woken`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      _ = try SocketWire(sandbox.socket).call("ping")
      let isAsleep = try Patience.wait { try Self.isAsleep(owner.pid) }
      let waits = try Self.waits(of: owner.pid)
      #expect(isAsleep, "\(waits)")
      #expect(try Self.nextAlarms(of: owner.pid).isEmpty)
    }
  }

  // MARK: What the kernel says

  private static func tool() throws -> String {
    guard access(strace, X_OK) == 0 else { throw TestFailure("\(strace) is missing: apt-get install strace") }
    return strace
  }

  /// The system calls of a program while a body runs; it is attached before, and detached after.
  private static func trace(_ program: Program, in sandbox: Sandbox, _ body: () throws -> Void) throws -> Trace {
    let file = sandbox.root + "/calls.trace"
    let threads = Directory.names(in: "/proc/\(program.pid)/task").count
    let tracer = try sandbox.start(tool(), ["-f", "-o", file, "-p", "\(program.pid)"], input: .nothing)
    let isAttached = try Patience.wait {
      try Directory.names(in: "/proc/\(program.pid)/task").allSatisfy { thread in
        try words(of: "/proc/\(program.pid)/task/\(thread)/status").contains("\(tracer.pid)")
      }
    }
    guard isAttached, threads > 0 else { throw TestFailure("strace does not attach: \(tracer.errorText)") }
    try body()
    try tracer.send(Signal(number: SIGINT))
    _ = try tracer.wait()
    return Trace(String(decoding: try Directory.bytes(of: file), as: UTF8.self))
  }

  private static func words(of path: String) throws -> [String] {
    String(decoding: try Directory.bytes(of: path), as: UTF8.self).split { " \t\n".contains($0) }.map(String.init)
  }

  /// Minor and major faults: the tenth and twelfth field of `/proc/<pid>/stat` (proc(5)), counted behind the name.
  private static func faults(of pid: Int32) throws -> Int {
    let text = String(decoding: try Directory.bytes(of: "/proc/\(pid)/stat"), as: UTF8.self)
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    guard fields.count > 10, let minor = Int(fields[8]), let major = Int(fields[10]) else {
      throw TestFailure("stat is not as proc(5) says")
    }
    return minor + major
  }

  /// The faults of the command, the least of three runs: from `/proc/PID/stat`, before the process is reaped.
  private static func faultsOfCommand(in sandbox: Sandbox) throws -> Int {
    var least = Int.max
    for _ in 0..<3 {
      let program = try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state, "token"], input: .nothing)
      // It is a zombie once its output is at its end, and still has its count.
      _ = try program.output.readToEnd()
      guard try Patience.wait(until: { try words(of: "/proc/\(program.pid)/stat").contains("Z") }) else {
        throw TestFailure("the command does not end")
      }
      least = min(least, try faults(of: program.pid))
      _ = try program.wait()
    }
    return least
  }

  /// The call and the arguments that each thread waits in: `/proc/<pid>/task/<tid>/syscall`.
  private static func waits(of pid: Int32) throws -> [[String]] {
    try Directory.names(in: "/proc/\(pid)/task").map { try words(of: "/proc/\(pid)/task/\($0)/syscall") }
  }

  // Swift does not import the macros of <sys/syscall.h>.
  #if arch(arm64)
  private static let (waitCalls, futexCall) = ([22], 98)
  #else
  private static let (waitCalls, futexCall) = ([232, 281], 202)
  #endif

  /// Whether each thread waits in epoll_wait(2) without a time limit, or in futex(2) without one.
  private static func isAsleep(_ pid: Int32) throws -> Bool {
    try waits(of: pid).allSatisfy { words in
      guard words.count > 5, let number = Int(words[0]) else { return false }
      switch number {
      case let number where waitCalls.contains(number):
        return words[4] == "0xffffffff" || words[4] == "0xffffffffffffffff"
      case futexCall: return words[4] == "0x0"
      default: return false
      }
    }
  }

  /// The timers that are set for this century: seconds of `it_value` in `/proc/<pid>/fdinfo`; one for the end of time only
  /// tells when the clock is set (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
  private static func nextAlarms(of pid: Int32) throws -> [Int64] {
    try Directory.names(in: "/proc/\(pid)/fdinfo").compactMap { name -> Int64? in
      let words = (try? words(of: "/proc/\(pid)/fdinfo/\(name)")) ?? []
      guard let place = words.firstIndex(of: "it_value:"), words.count > place + 1 else { return nil }
      guard let seconds = Int64(words[place + 1].filter(\.isNumber)) else { throw TestFailure("fdinfo is another") }
      return (1..<3_155_760_000).contains(seconds) ? seconds : nil
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// A hardened process shows its calls, its waits and its timers to root alone (prctl(2), PR_SET_DUMPABLE).
  fileprivate static var needsRoot: Self {
    .enabled(if: geteuid() == 0, "only root may trace a broker")
  }
}

/// What strace(1) wrote with `-f`: a process, a call, its arguments and result a line.
private struct Trace {
  /// How often each call was made.
  private(set) var names: [String: Int] = [:]

  init(_ text: String) {
    for line in text.split(separator: "\n") {
      let call = line.drop { $0.isNumber || $0 == " " }
      // The second half of a call that was interrupted by another thread's line, and signals and ends.
      guard let first = call.first, first.isLetter, let end = call.firstIndex(of: "(") else { continue }
      names[String(call[..<end]), default: 0] += 1
    }
  }

  var callCount: Int { names.values.reduce(0, +) }

  func count(of name: String) -> Int { names[name] ?? 0 }
}
