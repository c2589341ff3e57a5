import Glibc
import JSON
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

/// The end of a broker, and brokers that are not where they are looked for.
@Suite(.standardTimeLimit) struct StopTests {
  @Test func `two stops, one after the other, both succeed, and then the directory is free`() async throws {
    try await Sandbox.run { sandbox in
      for _ in 0..<5 {
        #expect(try sandbox.command("status").code == 0)
        #expect(try sandbox.command("stop").code == 0)
        #expect(!FileLock.isHeld(sandbox.state + "/broker.lock"))
        let second = try sandbox.command("stop")
        #expect(second.code == 0 && second.errors.hasSuffix("no broker is running\n"), "\(second.errors)")
      }
    }
  }

  @Test func `a start waits for a lock whose owner was killed, and which a child of it has for a moment`() async throws
  {
    try await Sandbox.run { sandbox in
      let killed = try sandbox.owner()
      killed.kill()
      _ = try killed.wait()
      let path = sandbox.state + "/broker.lock"
      let owner: Program
      do {
        // In the place of the child.
        let lock = try FileLock(path)
        owner = try sandbox.start(BuiltPrograms.daemon, ["--state", sandbox.state], input: .nothing)
        // It has looked for longer than a living owner is waited for.
        let fileLinks = "/proc/\(owner.pid)/fd"
        func holdsLock() -> Bool {
          Directory.names(in: fileLinks).contains { SymbolicLink.target(of: fileLinks + "/" + $0) == path }
        }
        #expect(Patience.wait { holdsLock() })
        let seen = BootClock.now
        #expect(Patience.wait { BootClock.now - seen > .milliseconds(200) && holdsLock() })
        withExtendedLifetime(lock.path) {}
      }
      #expect(Patience.wait { OwnerRecord(at: path)?.pid == owner.pid })
      #expect(Patience.wait { (try? SocketWire(sandbox.socket).call("ping").members().isEmpty) == true })
    }
  }

  @Test func `stops at the same moment all succeed`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let stops = try (0..<4).map { _ in
        try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state, "stop"], input: .nothing)
      }
      for stop in stops {
        _ = try stop.output.readToEnd()
        #expect(try stop.wait() == 0, "\(stop.errorText)")
      }
      #expect(!FileLock.isHeld(sandbox.state + "/broker.lock"))
    }
  }

  /// An owner on a socket that a service manager opened.
  private static func activated(_ sandbox: Sandbox, at path: String) throws -> Program {
    var template = Array((Scratch.parent + "/ab-lock-XXXXXX").utf8CString)
    let made = mkstemp(&template)
    guard made >= 0 else { throw TestFailure("no temporary file") }
    close(made)
    let lockPath = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(lockPath) }
    let listening = try UnixSocket.listen(at: path, holding: try FileLock(lockPath))
    return try sandbox.start(
      "/bin/sh", ["-c", #"LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" --state "$1""#, BuiltPrograms.daemon, sandbox.state],
      input: .nothing, descriptors: [(listening.descriptor.number, 3)])
  }

  @Test func `an activated socket works at any path, and every client finds it`() async throws {
    try await Sandbox.run { sandbox in
      let path = sandbox.root + "/elsewhere/any.sock"
      let owner = try Self.activated(sandbox, at: path)
      // The connection waits in the socket's queue until the broker is there.
      #expect(try SocketWire(path).call("ping").members().isEmpty)
      let record = try #require(OwnerRecord(at: sandbox.state + "/broker.lock"))
      #expect(record.socket == path && record.pid == owner.pid)
      // Who listened last is shown to clients: the broker, not the manager.
      #expect(try PeerCredentials(of: UnixSocket.connect(to: path)).pid == owner.pid)
      let found = try sandbox.command("sockpath")
      #expect(found.code == 0 && found.output == path + "\n", "\(found.errors)")
      for words in ["status", "lock", "unlock"] {
        let outcome = try sandbox.command(words)
        #expect(outcome.code == 0, "\(outcome.errors)")
      }
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
      #expect(owner.errorText.contains(path), "the log names the socket that was passed: \(owner.errorText)")
      // The socket is the manager's.
      #expect(try FileStatus.ofLink(path).kind == .socket)
    }
  }

  @Test func `an owner that is not on its socket is not to be killed, and stop ends it in order`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      // One that does not run cannot listen again.
      try owner.send(Signal(number: SIGSTOP))
      #expect(unlink(sandbox.socket) == 0)
      let lost = try sandbox.command("status")
      #expect(lost.code == 8 && !lost.errors.contains("kill"), "\(lost.errors)")
      #expect(lost.errors.contains("(pid \(owner.pid))") && lost.errors.contains("run: authbroker --state"))
      let quiet = try sandbox.command("--no-start", "status")
      #expect(quiet.code == 8 && quiet.errors.contains("(pid \(owner.pid))"), "\(quiet.errors)")
      #expect(!quiet.errors.contains("without --no-start"), "\(quiet.errors)")
      try owner.send(Signal(number: SIGCONT))
      let stop = try sandbox.command("stop")
      #expect(stop.code == 0, "\(stop.errors)")
      #expect(try owner.wait() == 0)
    }
  }

  @Test func `a state directory that others can change takes no proof, which is said, and stop needs none`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      #expect(chmod(sandbox.state, 0o777) == 0)
      let lock = try sandbox.command("lock")
      #expect(lock.code == 6 && !lock.errors.contains("create the file"), "\(lock.errors)")
      #expect(lock.errors.contains("\(sandbox.state) is open to others (mode 777); run: chmod 700"), "\(lock.errors)")
      let stop = try sandbox.command("stop")
      #expect(stop.code == 0, "\(stop.errors)")
      #expect(try owner.wait() == 0)
    }
  }

  @Test func `a program that sends messages and hangs ends with the broker`() async throws {
    try await Sandbox.run { sandbox in
      let file = sandbox.root + "/pid"
      let line = "echo $$ >'\(file).new' && mv '\(file).new' '\(file)' && exec sleep 1000"
      let owner = try sandbox.owner(
        try sandbox.configure(
          #"{ local: { delivery: { channel: "command", command: ["/bin/sh", "-c", "\#(line)"] } } }"#))
      let account = #"{"email":"ada@example.com","password":"example password 1"}"#
      let client = try SocketWire(sandbox.socket)
      _ = try client.call("register", account)
      _ = try client.call("forgotPassword", #"{"email":"ada@example.com"}"#)
      #expect(Patience.wait { access(file, F_OK) == 0 })
      let pid = try #require(Int32(String(decoding: try Directory.bytes(of: file), as: UTF8.self).dropLast()))
      #expect(kill(pid, 0) == 0)
      #expect(try sandbox.command("stop").code == 0)
      _ = try owner.wait()
      let hasEnded = Patience.wait { kill(pid, 0) != 0 }
      #expect(hasEnded)
      if !hasEnded { kill(pid, SIGKILL) }
    }
  }
}
