import JSON
import LinuxSystem
import TestSupport
import Testing

/// What is seen by whoever watches, and whose broker dies meanwhile.
@Suite(.standardTimeLimit) struct WatchTests {
  /// What a watcher prints with `--json`, event by event.
  private struct EventInlet {
    let watcher: Program
    private var bytes: [UInt8] = []

    init(_ watcher: Program) { self.watcher = watcher }

    mutating func next() throws -> (name: String, sequence: Int64) {
      let deadline = BootClock.now + Patience.ceiling
      while !bytes.contains(UInt8(ascii: "\n")) {
        let more = try watcher.output.read(until: deadline)
        guard !more.isEmpty else { throw TestFailure("the watcher has ended: \(watcher.errorText)") }
        bytes += more
      }
      let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
      bytes.removeFirst(line.count + 1)
      let event = try JSONDocument(parsing: Array(line)).root
      return (try event.required("event").string(), try event.required("sequence").integer())
    }
  }

  private static let pause = Signal(number: 19)
  private static let proceed = Signal(number: 18)

  private static func awaitSubscription(_ sandbox: Sandbox) throws {
    let wire = try SocketWire(sandbox.socket)
    let deadline = BootClock.now + Patience.ceiling
    while try wire.call("getStatus")["subscriptions"]?.integer() == 0, BootClock.now < deadline {}
  }

  @Test func `a watch goes on at the next broker without a gap and without a repetition`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let watcher = try sandbox.start(
        BuiltPrograms.command, ["--state", sandbox.state, "--json", "watch", "--events", "tokenRefreshed"],
        input: .nothing)
      try Self.awaitSubscription(sandbox)
      var events = EventInlet(watcher)
      #expect(try sandbox.command("token", "--force-refresh").code == 0)
      let first = try events.next()
      // While it stands still, the next one comes up and has something to tell.
      try watcher.send(Self.pause)
      owner.kill()
      for _ in 0..<2 { #expect(try sandbox.command("token", "--force-refresh").code == 0) }
      try watcher.send(Self.proceed)
      let (second, third) = (try events.next(), try events.next())
      #expect(first.sequence < second.sequence && second.sequence < third.sequence)
      #expect(try sandbox.command("token", "--force-refresh").code == 0)
      let fourth = try events.next()
      #expect(third.sequence < fourth.sequence)
      #expect([first, second, third, fourth].allSatisfy { $0.name == "tokenRefreshed" })
      #expect(watcher.errorText.contains("another one goes on from sequence"), "\(watcher.errorText)")
    }
  }

  @Test func `a watch waits for the next broker where it was stopped, and starts none`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let watcher = try sandbox.start(
        BuiltPrograms.command, ["--state", sandbox.state, "--json", "watch", "--events", "logout"], input: .nothing)
      try Self.awaitSubscription(sandbox)
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
      #expect(try sandbox.command("--no-start", "status").code == 8)
      _ = try sandbox.owner()
      #expect(try sandbox.command("logout").code == 0)
      var events = EventInlet(watcher)
      #expect(try events.next().name == "logout")
    }
  }

  @Test func `what a locked vault cannot tell is told when it is open, once`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      #expect(try sandbox.command("lock").code == 0)
      let watcher = try sandbox.start(
        BuiltPrograms.command, ["--state", sandbox.state, "--json", "watch", "--since", "0"], input: .nothing)
      try Self.awaitSubscription(sandbox)
      #expect(try sandbox.command("unlock").code == 0)
      var events = EventInlet(watcher)
      #expect(try [events.next().name, events.next().name] == ["vaultUnlocked", "login"])
      #expect(try sandbox.command("logout").code == 0)
      #expect(try events.next().name == "logout")
    }
  }

  @Test func `a login that waits for its code is shown with the command that answers it, whatever its profile`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(
        #"{ profiles: { first: { provider: "local" }, second: { provider: "local" } } }"#)
      let words = ["--state", sandbox.state] + options
      let register = try sandbox.run(
        BuiltPrograms.command,
        words + [
          "register", "--profile", "second", "--email", "ada@example.com", "--phone", "+15550100042",
          "--password-stdin",
        ], input: "example password 1\n")
      #expect(register.code == 3, "\(register.errors)")
      for command in ["status", "sessions"] {
        let shown = try sandbox.run(BuiltPrograms.command, words + [command])
        let line = shown.output.split(separator: "\n").last ?? ""
        #expect(line.hasPrefix("second: a login waits for its code (sms) until "), "\(shown.output)")
        #expect(line.contains("; answer with: authbroker \(words.joined(separator: " ")) verify-otp "), "\(line)")
        let other = try sandbox.run(BuiltPrograms.command, words + [command, "--profile", "first"])
        #expect(!other.output.contains("verify-otp"))
      }
    }
  }
}
