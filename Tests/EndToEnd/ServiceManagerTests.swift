import Glibc
import JSON
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

/// The life of a broker as its service manager hears of it (sd_notify(3)).
@Suite(.standardTimeLimit) struct ServiceManagerTests {
  private static let reload = Signal.hangUp

  private static func daemon(
    _ sandbox: Sandbox, _ manager: ManagerSocket, _ arguments: [String] = [], _ extra: [String: String] = [:]
  ) throws -> Program {
    let environment = extra.merging(["NOTIFY_SOCKET": manager.name]) { mine, _ in mine }
    return try sandbox.start(
      BuiltPrograms.daemon, ["--state", sandbox.state] + arguments, input: .nothing, environment: environment)
  }

  /// Starts a broker with a watchdog that is to be fed every 40 ms or sooner.
  private static func watched(_ sandbox: Sandbox, _ manager: ManagerSocket, _ state: String) throws -> Program {
    // Its process id is known only to the shell that becomes the daemon.
    let script = #"export WATCHDOG_PID=$$; exec "$0" --state "$1""#
    return try sandbox.start(
      "/bin/sh", ["-c", script, BuiltPrograms.daemon, state], input: .nothing,
      environment: ["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "40000"])
  }

  /// Waits until a broker is ready and has fed its watchdog five times.
  private static func awaitFood(_ manager: ManagerSocket) throws {
    var messages: [[String]] = []
    while !messages.contains(where: { $0.first == "READY=1" })
      || messages.filter({ $0 == ["WATCHDOG=1"] }).count < 5
    {
      messages.append(try manager.next())
    }
  }

  @Test func `start, good and bad reload, and stop are told, each with a status`() async throws {
    try await Sandbox.run { sandbox in
      let manager = try ManagerSocket(sandbox.root + "/notify")
      let configuration = try sandbox.configure("{}")
      let owner = try Self.daemon(sandbox, manager, configuration)
      #expect(try manager.next() == ["READY=1", "STATUS=1 profile, socket \(sandbox.socket)"])
      // What is said to be ready is ready.
      #expect(try SocketWire(sandbox.socket).call("ping").members().isEmpty)

      _ = try sandbox.configure(#"{profiles: {default: {provider: "local"}, other: {provider: "local"}}}"#)
      let before = MonotonicClock.microseconds
      try owner.send(Self.reload)
      let reloading = try manager.next()
      #expect(reloading.first == "RELOADING=1" && reloading.count == 2, "\(reloading)")
      let moment = try #require(Int64(reloading.last?.split(separator: "=").last ?? ""))
      #expect((before...MonotonicClock.microseconds).contains(moment))
      #expect(try manager.next() == ["READY=1", "STATUS=2 profiles, socket \(sandbox.socket)"])

      _ = try sandbox.configure("{profile: {}}")
      try owner.send(Self.reload)
      #expect(try manager.next().first == "RELOADING=1")
      let refused = try manager.next()
      #expect(refused.first == "READY=1" && refused.count == 2, "\(refused)")
      #expect(refused.last?.contains("the current one is kept") ?? false, "\(refused)")
      #expect(refused.last?.contains(#"did you mean "profiles""#) ?? false, "\(refused)")

      // A reload and an end that a client asks for are told as those by signals.
      _ = try sandbox.configure("{}")
      _ = try sandbox.command("call", "reloadConfig")
      #expect(try manager.next().first == "RELOADING=1")
      #expect(try manager.next().last == "STATUS=1 profile, socket \(sandbox.socket)")
      #expect(try sandbox.command("stop").code == 0)
      #expect(try manager.next().first == "STOPPING=1")
      #expect(try owner.wait() == 0)
      #expect(!manager.hasMessage, "an owner without a watchdog says nothing else")
    }
  }

  @Test func `an abstract name is understood, and a signal to stop is told`() async throws {
    try await Sandbox.run { sandbox in
      let manager = try ManagerSocket("@" + sandbox.root + "/notify")
      let owner = try Self.daemon(sandbox, manager)
      #expect(try manager.next().first == "READY=1")
      try owner.send(.terminate)
      #expect(try manager.next().first == "STOPPING=1")
      #expect(try owner.wait() == 0)
    }
  }

  @Test func `a start that fails says why`() async throws {
    try await Sandbox.run { sandbox in
      let manager = try ManagerSocket(sandbox.root + "/notify")
      let owner = try Self.daemon(sandbox, manager, try sandbox.configure("{profile: {}}"))
      let said = try manager.next()
      #expect(said.count == 1 && said[0].hasPrefix("STATUS=") && said[0].contains("profile"), "\(said)")
      #expect(try owner.wait() == 1)
    }
  }

  @Test func `the loop's own timer feeds the watchdog, which a broker that stands still does not`() async throws {
    try await Sandbox.run { sandbox in
      let manager = try ManagerSocket(sandbox.root + "/notify")
      let owner = try Self.watched(sandbox, manager, sandbox.state)
      try Self.awaitFood(manager)
      try owner.send(Signal(number: SIGSTOP))
      let isStopped = try Patience.wait {
        String(decoding: try Directory.bytes(of: "/proc/\(owner.pid)/stat"), as: UTF8.self).contains(") T ")
      }
      #expect(isStopped)
      while manager.hasMessage { _ = try manager.next() }
      // In the time in which another one feeds its watchdog again and again.
      let otherManager = try ManagerSocket(sandbox.root + "/other-notify")
      _ = try Self.watched(sandbox, otherManager, sandbox.root + "/other")
      try Self.awaitFood(otherManager)
      #expect(!manager.hasMessage)
      try owner.send(Signal(number: SIGCONT))
      #expect(try manager.next() == ["WATCHDOG=1"])
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
    }
  }

  @Test func `a watchdog of another process is not fed`() async throws {
    try await Sandbox.run { sandbox in
      let manager = try ManagerSocket(sandbox.root + "/notify")
      let owner = try Self.daemon(sandbox, manager, [], ["WATCHDOG_USEC": "2000", "WATCHDOG_PID": "1"])
      #expect(try manager.next().first == "READY=1")
      #expect(try sandbox.command("stop").code == 0)
      #expect(try manager.next().first == "STOPPING=1")
      #expect(try owner.wait() == 0)
      #expect(!manager.hasMessage)
    }
  }

  @Test func `a broker on demand does not speak in the name of the service that its client belongs to`() async throws {
    try await Sandbox.run { sandbox in
      let manager = try ManagerSocket(sandbox.root + "/notify")
      sandbox.environment["NOTIFY_SOCKET"] = manager.name
      sandbox.environment["WATCHDOG_USEC"] = "2000"
      #expect(try sandbox.command("status").code == 0)
      #expect(try sandbox.command("stop").code == 0)
      #expect(!manager.hasMessage)
    }
  }

  @Test(arguments: ["vsock:2:1234", "relative", "@", "/" + String(repeating: "x", count: 200), "/nobody/listens"])
  func `a manager that cannot be told is no obstacle`(_ name: String) async throws {
    try await Sandbox.run { sandbox in
      sandbox.environment["NOTIFY_SOCKET"] = name
      let owner = try sandbox.owner()
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
      #expect(!owner.errorText.contains("NOTIFY") && !owner.errorText.contains("error"), "\(owner.errorText)")
    }
  }

  @Test func `programs that the broker runs are told nothing of its manager`() async throws {
    try await Sandbox.run { sandbox in
      let manager = try ManagerSocket(sandbox.root + "/notify")
      let seen = sandbox.root + "/seen"
      let program = sandbox.root + "/print-key"
      let key = String(repeating: "5a", count: 32)
      try Directory.write("#!/bin/sh\nenv >> \(seen)\necho \(key)\n", to: program)
      #expect(chmod(program, 0o700) == 0)
      let configuration = try sandbox.configure(#"{vault: {keySource: "command", command: ["\#(program)"]}}"#)
      let owner = try Self.daemon(sandbox, manager, configuration, ["WATCHDOG_USEC": "60000000", "LISTEN_FDS": "0"])
      var said = try manager.next()
      while said.first != "READY=1" {
        if said.first != "WATCHDOG=1" {
          #expect(said.first == "STATUS=waiting for the vault's key command", "\(said)")
          #expect(said.last?.hasPrefix("EXTEND_TIMEOUT_USEC=") ?? false, "\(said)")
        }
        said = try manager.next()
      }
      let variables = String(decoding: try Directory.bytes(of: seen), as: UTF8.self)
      #expect(variables.contains("HOME="))
      for name in ["NOTIFY_", "WATCHDOG_", "LISTEN_"] { #expect(!variables.contains(name), "\(name)") }
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
    }
  }
}
