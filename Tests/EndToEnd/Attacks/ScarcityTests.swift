import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

extension AttackTests {
  /// A machine that has no more memory, threads, descriptors or disk to give.
  @Suite(.standardTimeLimit, .serialized) struct ScarcityTests {
    @Test func `long account calls that hang cost no session, whatever a refresh needs meanwhile`() async throws {
      try await Sandbox.run { sandbox in
        let stage = try AttackStage(sandbox)
        for endpoint in ["forgotPassword", "resetPassword"] {
          let step = #"{"endpoint":"\#(endpoint)","name":"hold-before-commit","times":-1,"seconds":60}"#
          _ = try stage.backend.ask("/misbehave", step)
        }
        let measurement = try stage.endure("long account calls that hang") {
          let attacker = try SocketWire(sandbox.socket)
          for number in 0..<64 {
            try attacker.send(Array(#"{"jsonrpc":"2.0","id":\#(number),\#(Self.longCall(number))}"#.utf8))
          }
          // The backend has some of them, or the broker has refused some; both may be true.
          _ = try attacker.ask(#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#)
          for _ in 0..<5 { _ = try stage.refresh() }
          Measurement.pass(.seconds(1))
          return 64
        }
        #expect(try stage.wire.call("getSession").required("state").string() != "expired")
        _ = try stage.backend.ask("/misbehave", #"{"steps":[],"replace":true}"#)
        _ = try stage.backend.ask("/release", "{}")
        Measurement.expectGood([measurement])
        try stage.expectNothingLost()
      }
    }

    /// A call whose parameters are as long as strings may be.
    private static func longCall(_ number: Int) -> String {
      let long = String(repeating: "x", count: 60_000)
      return number.isMultiple(of: 2)
        ? #""method":"forgotPassword","params":{"email":"\#(long)@example.com"}"#
        : #""method":"resetPassword","params":{"token":"\#(long)","password":"\#(long)"}"#
    }

    @Test func `an error stream that is full and unread holds up neither clients nor the end`() async throws {
      try await Sandbox.run { sandbox in
        let path = sandbox.root + "/unread"
        #expect(mkfifo(path, 0o600) == 0)
        let pipe = try FileDescriptor.open(path, [.readWrite, .nonBlocking])
        let owner = try Self.owner(sandbox, errors: path)
        defer { owner.kill() }
        let wire = ProgramWire(owner)
        try wire.register()
        let measurement = try Measurement.take("an unread error stream", of: owner.pid, on: sandbox.socket) {
          let block = [UInt8](repeating: 0x0A, count: 4096)
          while case .bytes = pipe.write(block.span) {}
          while case .bytes = pipe.write([0x0A], 0..<1) {}
          return try Self.fillLog(wire)
        }
        Measurement.expectGood([measurement])
        try owner.send(.terminate)
        #expect(try owner.wait(within: AttackStage.patience) == 0)
      }
    }

    /// A private owner whose standard error is a file of ours.
    private static func owner(_ sandbox: Sandbox, errors: String) throws -> Program {
      var plan = ChildProcess.Plan(
        path: BuiltPrograms.daemon,
        arguments: ["--state", sandbox.state, "--stdio"] + (try sandbox.configure(#"{ logLevel: "debug" }"#)),
        environment: sandbox.environment)
      plan.workingDirectory = sandbox.root
      return try Program(plan, input: .pipe, errors: errors)
    }

    /// Makes requests each of which says something in the log; how many were answered.
    private static func fillLog(_ wire: ProgramWire) throws -> Int {
      for number in 0..<2000 {
        try wire.send(Array(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"extra\#(number)":1}}"#.utf8))
        guard isAnswered(wire) else { return number }
      }
      return 2000
    }

    /// Whether an answer comes in time.
    private static func isAnswered(_ wire: ProgramWire) -> Bool {
      do {
        return try wire.next(within: AttackStage.patience) != nil
      } catch {
        Issue.record("no answer: \(error)")
        return false
      }
    }

    /// A user that owns nothing else on this machine: the limit counts all threads of a user, but never root's.
    private static let stranger: UInt32 = 54_321

    @Test(.enabled(if: geteuid() == 0, "only root can become a user whose threads are limited"), arguments: 1...16)
    func `with few threads a daemon refuses to start, or starts and refuses what it cannot do`(_ count: Int)
      async throws
    {
      try await Sandbox.run { sandbox in
        for path in [sandbox.root, sandbox.root + "/home"] { #expect(chown(path, Self.stranger, Self.stranger) == 0) }
        let owner = try sandbox.start(
          "/usr/bin/setpriv",
          [
            "--reuid=\(Self.stranger)", "--regid=\(Self.stranger)", "--clear-groups", "/usr/bin/prlimit",
            "--nproc=\(count):\(count)", BuiltPrograms.daemon, "--state", sandbox.state, "--stdio",
          ])
        let wire = ProgramWire(owner)
        // One that has refused to start reads nothing.
        for call in [#""method":"register","params":\#(AttackStage.credentials)"#, #""method":"ping""#] {
          try? wire.send(Array(#"{"jsonrpc":"2.0","id":1,\#(call)}"#.utf8))
        }
        wire.finishSending()
        let answers = try wire.readToEnd()
        let code = try owner.wait(within: AttackStage.patience)
        #expect(code < 128, "ended by signal \(code - 128): \(owner.errorText)")
        #expect(code == 0 ? answers.count == 2 : !owner.errorText.isEmpty, "\(code): \(answers)")
      }
    }

    @Test func `without descriptors others are served, and nothing is lost`() async throws {
      try await Sandbox.run { sandbox in
        let stage = try AttackStage(sandbox)
        let pid = stage.owner.pid
        func limit(_ count: String) throws {
          #expect(try sandbox.run("/usr/bin/prlimit", ["--pid", "\(pid)", "--nofile=\(count)"]).code == 0)
        }
        let status = String(decoding: try Directory.bytes(of: "/proc/\(pid)/limits"), as: UTF8.self)
        let usual = try #require(status.split(separator: "\n").first { $0.hasPrefix("Max open files") })
          .split(separator: " ")
        let measurement = try stage.endure("no descriptors") {
          try limit("\(Directory.names(in: "/proc/\(pid)/fd").count):\(usual[4])")
          var held: [FileDescriptorBox] = []
          for _ in 0..<50 { held.append(FileDescriptorBox(try UnixSocket.connect(to: sandbox.socket))) }
          for _ in 0..<5 {
            #expect(try !stage.wire.accessToken().isEmpty)
            _ = try stage.wire.refusal("getAccessToken", #"{"forceRefresh":true}"#)
          }
          Measurement.pass(.seconds(1))
          return held.count
        }
        try limit("\(usual[3]):\(usual[4])")
        #expect(stage.isAlive)
        Measurement.expectGood([measurement])
        try stage.expectNothingLost()
      }
    }

    /// A connection that is only held.
    private final class FileDescriptorBox {
      private let descriptor: FileDescriptor
      init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small disk"))
    func `on a full disk others are served, and when there is room nothing is lost`() async throws {
      try await Sandbox.run { sandbox in
        let disk = try SmallDisk(sandbox, at: sandbox.state, kilobytes: 4096)
        let stage = try AttackStage(sandbox)
        let measurement = try stage.endure("a full disk") {
          for _ in 0..<3 {
            try disk.fill()
            for _ in 0..<20 { _ = try stage.refresh() }
            disk.empty()
            try stage.refreshAtLast()
          }
          return 60
        }
        Measurement.expectGood([measurement])
        try stage.expectNothingLost()
      }
    }
  }
}
