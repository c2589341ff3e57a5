import Glibc
import JSON
import JSONRPC
import LinuxSystem
import TestSupport
import Testing

/// What is left of secrets in the memory of a broker that has used them, and who may look.
///
/// Outside the arena nothing is left, in no part of the process: so neither in a core file, which is made of the same
/// memory without the arena.
@Suite(.standardTimeLimit, .enabled(if: geteuid() == 0, "only root may read the memory of a broker"))
struct MemoryTests {
  private static let options = #"{ local: { otp: { length: 10 } } }"#

  @Test(.enabled(if: isWatched, "a sanitizer keeps what was freed"))
  func `after a thousand requests no copy of a secret is left outside the arena`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.owner(sandbox)
      let conversation = MemoryConversation(sandbox)
      var survey = MemorySurvey(of: owner.pid)
      do {
        let (lines, headers) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket, .headers))
        try conversation.logIn(lines)
        try survey.learn(sandbox)
        for wire in [headers, lines, headers] {
          try conversation.refresh(wire)
          try survey.learn(sandbox)
        }
        for wire in [lines, headers] {
          try conversation.pipeline(wire, depth: 1, rounds: 100)
          try conversation.pipeline(wire, depth: 32, rounds: 20)
          try conversation.pipeline(wire, depth: 150, rounds: 1)
          try conversation.batch(wire)
        }
        for framing in [Framing.lines, .headers] {
          try conversation.drip(framing)
          try conversation.abandon(framing)
        }
        try conversation.fail()
        try conversation.waitForLogin(headers, lines)
        for wire in [headers, lines] {
          try conversation.refresh(wire)
          try survey.learn(sandbox)
        }
      }
      #expect(conversation.answeredCount > 1000)
      #expect(try SocketWire(sandbox.socket).call("ping").members().isEmpty)
      let findings = try survey.findings(conversation.marks, besides: sandbox)
      print("Copies in the memory of a broker after \(conversation.answeredCount) answers:\n\(findings.table)")
      // What the arena holds is found there: the search finds what is there.
      #expect(findings.count("access token", in: .arena) > 0)
      // Between its uses a refresh token lies nowhere in the clear.
      #expect(survey.learnedCount("refresh token") > 3)
      #expect(findings.count("refresh token", in: .arena) == 0)
      #expect(findings.count("key", in: .arena) > 0)
      #expect(findings.outsideTheArena.isEmpty, "\(findings.outsideTheArena)")
    }
  }

  @Test(.enabled(if: isWatched, "a sanitizer keeps what was freed"))
  func `a session that was stored is opened in the arena alone, and after logout it is nowhere`() async throws {
    try await Sandbox.run { sandbox in
      let conversation = MemoryConversation(sandbox)
      var marks = MemorySurvey(of: 0)
      do {
        let first = try Self.owner(sandbox)
        try conversation.logIn(try SocketWire(sandbox.socket))
        marks = MemorySurvey(of: first.pid)
        try marks.learn(sandbox)
        try first.send(.terminate)
        #expect(try first.wait() == 0)
      }
      let owner = try Self.owner(sandbox)
      var survey = MemorySurvey(of: owner.pid, knowing: marks)
      let wire = try SocketWire(sandbox.socket)
      try conversation.pipeline(wire, depth: 1, rounds: 1)
      // The buffer of an answer is wiped behind the call that sends it: the next answer says that it was.
      _ = try wire.call("ping")
      let living = try survey.findings(conversation.marks, besides: sandbox)
      #expect(living.count("access token", in: .arena) > 0)
      #expect(marks.learnedCount("refresh token") == 1)
      #expect(living.count("refresh token", in: .arena) == 0)
      #expect(living.outsideTheArena.isEmpty, "\(living.outsideTheArena)")
      try conversation.refresh(wire)
      try survey.learn(sandbox)
      _ = try wire.call("logout")
      _ = try wire.call("ping")
      let ended = try survey.findings(conversation.marks, besides: sandbox)
      for kind in ["access token", "refresh token", "password", "wrong password", "code", "wrong code"] {
        #expect(ended.count(kind, in: .arena) == 0, "\(kind)")
      }
      #expect(ended.outsideTheArena.isEmpty, "\(ended.outsideTheArena)")
    }
  }

  @Test(.enabled(if: isWatched, "a sanitizer keeps what was freed"))
  func `after the lock no token is left, whatever clients have not read or not finished`() async throws {
    try await Sandbox.run { sandbox in
      sandbox.environment["LD_BIND_NOW"] = "1"
      let profiles = #"{ profiles: { default: { provider: "local" }, other: { provider: "local" } }, "#
      let owner = try sandbox.owner(try sandbox.configure(profiles + "local: { otp: { length: 10 } } }"))
      let conversation = MemoryConversation(sandbox)
      let survey = MemorySurvey(of: owner.pid)
      let wire = try SocketWire(sandbox.socket)
      try conversation.logIn(wire)
      for framing in [Framing.lines, .headers] {
        try conversation.abandonBatch(framing)
        try conversation.abandonHalf(framing)
      }
      let stalled = try [Framing.lines, .headers].map { try conversation.stall($0) }
      let waiting = try conversation.holdBatch()
      let living = try survey.findings(conversation.marks, besides: sandbox)
      // What waits for a client that does not read is found: the lock has something to do.
      #expect(living.count("access token", in: .heap) > 1000)
      #expect(try sandbox.command("lock").code == 0)
      _ = try wire.call("ping")
      let locked = try survey.findings(conversation.marks, besides: sandbox)
      print("Copies in the memory of a broker that was locked:\n\(locked.table)")
      #expect(locked.outsideTheArena.isEmpty, "\(locked.outsideTheArena.prefix(10))")
      // They were closed, in the middle of whatever was on its way.
      for wire in stalled { _ = try? wire.readToEnd() }
      // The batch ended with the refusal of its last entry, unless the lock came before that had left the process.
      if let answers = try waiting.next() {
        #expect(try JSONDocument(parsing: answers).root.elements().count == 10)
      }
    }
  }

  @Test(.enabled(if: isWatched, "under a sanitizer mlock(2) does nothing"))
  func `the arena is locked and no core file would have it`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try Self.owner(sandbox)
      try SocketWire(sandbox.socket).register()
      let regions = try ProcessMemory(of: owner.pid).regions
      let arenas = regions.filter { $0.use == .arena && $0.permissions.hasPrefix("rw") }
      #expect(!arenas.isEmpty)
      // Locked, not dumped, not inherited by a child: proc(5), VmFlags.
      for arena in arenas { #expect(arena.flags.isSuperset(of: ["lo", "dd", "wf"]), "\(arena.flags)") }
      for arena in arenas {
        let end = arena.start + UInt(arena.byteCount)
        #expect(regions.contains { $0.permissions.hasPrefix("---") && $0.start + UInt($0.byteCount) == arena.start })
        #expect(regions.contains { $0.permissions.hasPrefix("---") && $0.start == end })
      }
      let limits = String(decoding: try Directory.bytes(of: "/proc/\(owner.pid)/limits"), as: UTF8.self)
      let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
      #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core ?? "")")
    }
  }

  @Test func `nobody of the same user may look into a broker`() async throws {
    try await Sandbox.run { sandbox in
      // A root without rights is like every other user to its own processes (capabilities(7)).
      let weak = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
      func start(_ words: String...) throws -> Program { try sandbox.start("/usr/bin/setpriv", weak + words) }
      let broker = try start(BuiltPrograms.daemon, "--state", sandbox.state, "--stdio")
      #expect(try ProgramWire(broker).call("ping").members().isEmpty)
      let other = try start("/bin/cat")
      try other.write(Array("echo".utf8))
      #expect(try !other.output.read(until: Patience.end).isEmpty)
      for name in ["environ", "maps", "mem"] {
        let look = try sandbox.run("/usr/bin/setpriv", weak + ["/bin/cat", "/proc/\(broker.pid)/\(name)"])
        #expect(look.code != 0 && look.errors.contains("Permission denied"), "\(name): \(look.errors)")
      }
      // The same look at another process shows that it is the broker that refuses.
      let look = try sandbox.run("/usr/bin/setpriv", weak + ["/bin/cat", "/proc/\(other.pid)/environ"])
      #expect(look.code == 0, "\(look.errors)")
    }
  }

  @Test func `a debugger of the same user gets nothing out of a broker or a relay`() async throws {
    try await Sandbox.run { sandbox in
      func snoop(_ words: [String]) throws -> [String] {
        let weak = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
        let snoop = ["/usr/bin/env", "python3", Repository.root + "/Tests/Drivers/Snoop/snoop"]
        let outcome = try sandbox.run("/usr/bin/setpriv", weak + snoop + words)
        #expect(outcome.code == 0, "\(words): \(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
      }
      _ = try sandbox.owner()
      let ways = ["ptrace", "process_vm_readv", "pidfd_getfd"]
      // Another program is open to it: what refuses is the broker and the command.
      #expect(try snoop(["/bin/cat"]) == ways.map { "\($0) ok" })
      for words in [
        [BuiltPrograms.daemon, "--state", sandbox.root + "/other", "--stdio"],
        [BuiltPrograms.command, "--state", sandbox.state, "connect"],
      ] {
        #expect(try snoop(words) == ways.map { "\($0) EPERM" }, "\(words)")
      }
    }
  }

  @Test func `nobody of the same user may look into a command, and what it starts is as ever`() async throws {
    try await Sandbox.run { sandbox in
      let weak = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
      _ = try sandbox.owner()
      let relay = try sandbox.start(
        "/usr/bin/setpriv", weak + [BuiltPrograms.command, "--state", sandbox.state, "connect"])
      #expect(try ProgramWire(relay).call("ping").members().isEmpty)
      for name in ["environ", "maps", "mem"] {
        let look = try sandbox.run("/usr/bin/setpriv", weak + ["/bin/cat", "/proc/\(relay.pid)/\(name)"])
        #expect(look.code != 0 && look.errors.contains("Permission denied"), "\(name): \(look.errors)")
      }
      let core = try Self.coreLimit(String(decoding: Directory.bytes(of: "/proc/\(relay.pid)/limits"), as: UTF8.self))
      #expect(core == "0")
      // A program that prints a password has the limit that the command had, and can be looked at by its like.
      let look = "ulimit -c; cat /proc/$$/environ >/dev/null && echo open"
      let script = "(\(look)) >\(sandbox.root)/seen; echo password"
      _ = try sandbox.run(
        "/bin/sh",
        [
          "-c", "ulimit -S -c 123; exec setpriv \(weak.joined(separator: " ")) \"$@\"", "-", BuiltPrograms.command,
          "--state", sandbox.state, "login", "--email", "a@b.c", "--password-command", script,
        ])
      #expect(try String(decoding: Directory.bytes(of: sandbox.root + "/seen"), as: UTF8.self) == "123\nopen\n")
    }
  }

  /// The soft limit of core files in a text of `/proc/<pid>/limits`.
  private static func coreLimit(_ limits: String) -> String? {
    let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    return line?.split(separator: " ").dropFirst(4).first.map(String.init)
  }

  /// Sanitizers keep what was freed, and shadows of it: there is nothing to be said about copies under one.
  private static var isWatched: Bool {
    Environment.current["ASAN_OPTIONS"] == nil && Environment.current["TSAN_OPTIONS"] == nil
  }

  /// An owner as the release build is: its references to libraries are resolved before it starts (ld.so(8)).
  ///
  /// Resolved at the first call of each function, they leave the processor's registers on the stack, and with them 16
  /// bytes of whatever was copied last.
  private static func owner(_ sandbox: Sandbox) throws -> Program {
    sandbox.environment["LD_BIND_NOW"] = "1"
    return try sandbox.owner(try sandbox.configure(options))
  }
}
