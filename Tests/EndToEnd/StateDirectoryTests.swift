import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A state directory that cannot be trusted, or that was damaged, is refused in a clear sentence.
@Suite(.standardTimeLimit) struct StateDirectoryTests {
  @Test func `a directory that others can write to is refused`() async throws {
    try await Sandbox.run { sandbox in
      mkdir(sandbox.state, 0o700)
      chmod(sandbox.state, 0o770)
      let outcome = try sandbox.refusedDaemon()
      #expect(outcome.code != 0)
      #expect(outcome.errors.contains("open to others (mode 770); run: chmod 700 \(sandbox.state)"))
      #expect(Directory.names(in: sandbox.state).isEmpty)
    }
  }

  @Test func `a directory below one that others can write to is refused`() async throws {
    try await Sandbox.run { sandbox in
      mkdir(sandbox.root + "/open", 0o700)
      chmod(sandbox.root + "/open", 0o777)
      let outcome = try sandbox.run(BuiltPrograms.daemon, ["--state", sandbox.root + "/open/state"])
      #expect(outcome.code != 0)
      #expect(outcome.errors.contains("can be changed by every user"), "\(outcome.errors)")
    }
  }

  @Test func `a symbolic link is refused`() async throws {
    try await Sandbox.run { sandbox in
      mkdir(sandbox.root + "/elsewhere", 0o700)
      symlink(sandbox.root + "/elsewhere", sandbox.state)
      let outcome = try sandbox.refusedDaemon()
      #expect(outcome.code != 0)
      #expect(outcome.errors.contains("is a symbolic link"), "\(outcome.errors)")
      #expect(Directory.names(in: sandbox.root + "/elsewhere").isEmpty)
    }
  }

  @Test func `a socket that cannot be made is no fault of the vault's`() async throws {
    try await Sandbox.run { sandbox in
      let folder = sandbox.state + "/run"
      mkdir(sandbox.state, 0o700)
      mkdir(folder, 0o700)
      try Directory.write("x", to: folder + "/broker.sock")
      for _ in 0..<2 {
        let outcome = try sandbox.refusedDaemon()
        #expect(outcome.code == 1 && outcome.errors.contains(folder), "\(outcome.code) \(outcome.errors)")
        let client = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state, "status"])
        #expect(client.code == 1 && client.errors.contains(folder), "\(client.code) \(client.errors)")
        // Then a directory that others can look into.
        unlink(folder + "/broker.sock")
        chmod(folder, 0o755)
      }
    }
  }

  @Test func `a file system that takes no files is refused`() async throws {
    try await Sandbox.run { sandbox in
      // /proc takes no directory of anybody, not even of root, who could write to one of mode 0500.
      let outcome = try sandbox.run(BuiltPrograms.daemon, ["--state", "/proc/authbroker"])
      #expect(outcome.code != 0)
      #expect(outcome.errors.contains("/proc/authbroker cannot be used"), "\(outcome.errors)")
    }
  }

  @Test func `a state directory that its owner cannot write to is refused`() async throws {
    try await Sandbox.run { sandbox in
      mkdir(sandbox.state, 0o500)
      // A root without rights is like every other user to its own files (capabilities(7)).
      let weak = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
      let daemon = [BuiltPrograms.daemon, "--state", sandbox.state]
      let words = geteuid() == 0 ? ["/usr/bin/setpriv"] + weak + daemon : daemon
      let outcome = try sandbox.run(words[0], Array(words.dropFirst()))
      #expect(outcome.code != 0)
      #expect(outcome.errors.contains(sandbox.state), "\(outcome.errors)")
      #expect(Directory.names(in: sandbox.state).isEmpty)
    }
  }

  @Test func `a vault without its key file is refused with 7, and the key file named`() async throws {
    try await Sandbox.run { sandbox in
      try Self.makeSession(sandbox)
      let vault = try Directory.bytes(of: sandbox.state + "/vault.sqlite")
      unlink(sandbox.state + "/vault.key")
      let outcome = try sandbox.refusedDaemon()
      #expect(outcome.code == 7)
      #expect(outcome.errors.contains(sandbox.state + "/vault.key"), "\(outcome.errors)")
      // Nothing was made or changed: with the key back, everything is as it was.
      #expect(!Directory.names(in: sandbox.state).contains("vault.key"))
      #expect(try Directory.bytes(of: sandbox.state + "/vault.sqlite") == vault)
    }
  }

  @Test func `a vault with another key is refused with 7`() async throws {
    try await Sandbox.run { sandbox in
      try Self.makeSession(sandbox)
      var key = try Directory.bytes(of: sandbox.state + "/vault.key")
      // One letter of the key, whatever the file says around it.
      let place = key.count / 2
      key[place] = key[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      try FileDescriptor.open(sandbox.state + "/vault.key", [.write, .truncate]).writeAll(key.span)
      let outcome = try sandbox.refusedDaemon()
      #expect(outcome.code == 7, "\(outcome.errors)")
    }
  }

  /// Where the vault is overwritten.
  enum Damage: CaseIterable {
    case beginning, behindTheFirstPage, end
  }

  @Test(arguments: Damage.allCases)
  func `a damaged vault is refused with 7`(_ damage: Damage) async throws {
    try await Sandbox.run { sandbox in
      try Self.makeSession(sandbox)
      let path = sandbox.state + "/vault.sqlite"
      var bytes = try Directory.bytes(of: path)
      switch damage {
      case .beginning: for index in 0..<100 { bytes[index] ^= 0x5A }
      case .behindTheFirstPage: for index in 4096..<bytes.count { bytes[index] = 0xAA }
      case .end: bytes.removeLast(bytes.count / 2)
      }
      try FileDescriptor.open(path, [.write, .truncate]).writeAll(bytes.span)
      let outcome = try sandbox.refusedDaemon()
      #expect(outcome.code == 7, "\(outcome.code) \(outcome.errors)")
      #expect(outcome.errors.contains(path), "\(outcome.errors)")
      #expect(try Directory.bytes(of: path) == bytes)
    }
  }

  @Test func `a healthy vault has no findings, with a chosen directory but that its replacement is not noticed`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let places: [(arguments: [String], state: String, kinds: [String])] = [
        ([], sandbox.root + "/home/state/authbroker", []),
        (["--state", sandbox.state], sandbox.state, ["rollbackUnnoticed"]),
      ]
      for place in places {
        // Twice: of a vault that was just made, and of one that was there.
        for _ in 0..<2 {
          let check = try sandbox.run(
            BuiltPrograms.command, place.arguments + ["call", "checkVault", #"{"full":true}"#])
          #expect(check.code == 0, "\(check.errors)")
          let verdict = try JSONDocument(parsing: Array(check.output.utf8)).root
          #expect(try verdict.required("ok").bool())
          let kinds = try verdict.required("findings").elements().map { try $0.required("kind").string() }
          // Whether memory can be locked is the machine's matter.
          #expect(kinds.filter { $0 != "memoryUnlocked" } == place.kinds, "\(check.output)")
          #expect(try sandbox.run(BuiltPrograms.command, place.arguments + ["stop"]).code == 0)
          try sandbox.awaitNoOwner(of: place.state)
        }
      }
    }
  }

  @Test func `everything in the state directory belongs to its owner alone`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      for path in Directory.files(below: sandbox.state) + [sandbox.socket] {
        #expect(try FileStatus.ofLink(path).permissions == 0o600, "\(path)")
      }
      for path in [sandbox.state, sandbox.state + "/run", sandbox.state + "/local-provider", sandbox.outbox] {
        #expect(try FileStatus.ofLink(path).permissions == 0o700, "\(path)")
      }
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
    }
  }

  /// Leaves a vault with a session behind, and no owner.
  private static func makeSession(_ sandbox: Sandbox) throws {
    let owner = try sandbox.owner()
    try SocketWire(sandbox.socket).register()
    try owner.send(.terminate)
    guard try owner.wait() == 0 else { throw TestFailure(owner.errorText) }
  }
}
