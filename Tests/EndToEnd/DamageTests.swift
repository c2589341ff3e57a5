import BrokerCore
import BrokerProtocol
import Glibc
import JSON
import LinuxSystem
import Records
import SQLiteStore
import Sealing
import SecretMemory
import TestSupport
import Testing

/// A state directory on a bad day: the broker does not start, says why, and leaves every file as it was.
@Suite(.standardTimeLimit) struct DamageTests {
  /// What has happened to the files.
  enum Damage: CaseIterable {
    case keyIsMissing, keyIsAnother, keyIsShort, keyIsLong, keyIsOpenToOthers, keyIsALink, keyIsADirectory
    case vaultIsEmpty, vaultIsCutInHalf, vaultIsCutInItsFirstPage, vaultHasABadHeader, vaultHasABadPage
    case vaultIsOpenToOthers, vaultIsALink, vaultIsADirectory, vaultIsNewer, vaultIsAnotherProgramsDatabase
    case vaultIsNoDatabase

    /// What the refusal must name: a file, or the key that does not fit, wherever it came from.
    func name(in state: String) -> String {
      switch self {
      case .keyIsAnother: "key"
      case .keyIsMissing, .keyIsShort, .keyIsLong, .keyIsOpenToOthers, .keyIsALink, .keyIsADirectory:
        state + "/vault.key"
      default: state + "/vault.sqlite"
      }
    }

    /// Does it.
    func strike(_ state: String) throws {
      let (key, vault) = (state + "/vault.key", state + "/vault.sqlite")
      switch self {
      case .keyIsMissing: unlink(key)
      case .keyIsAnother: try Self.change(key) { for index in $0.indices { $0[index] = UInt8(index) &* 7 &+ 3 } }
      case .keyIsShort: try Self.change(key) { $0.removeLast() }
      case .keyIsLong: try Self.change(key) { $0.append(1) }
      case .keyIsOpenToOthers: chmod(key, 0o644)
      case .keyIsALink: try Self.link(key)
      case .keyIsADirectory: try Self.makeDirectory(key)
      case .vaultIsEmpty: try Self.change(vault) { $0 = [] }
      case .vaultIsCutInHalf: try Self.change(vault) { $0.removeLast($0.count / 2) }
      case .vaultIsCutInItsFirstPage: try Self.change(vault) { $0.removeLast($0.count - 1000) }
      case .vaultHasABadHeader: try Self.change(vault) { for index in 0..<100 { $0[index] ^= 0x5A } }
      case .vaultHasABadPage: try Self.change(vault) { for index in 4096..<8192 { $0[index] = 0xAA } }
      case .vaultIsOpenToOthers: chmod(vault, 0o644)
      case .vaultIsALink: try Self.link(vault)
      case .vaultIsADirectory: try Self.makeDirectory(vault)
      // The schema's number and the application's lie at offsets 60 and 68 (sqlite.org/fileformat2.html).
      case .vaultIsNewer: try Self.change(vault) { $0[62] = 0x7F }
      case .vaultIsAnotherProgramsDatabase: try Self.change(vault) { $0[68] ^= 0x11 }
      case .vaultIsNoDatabase: try Self.change(vault) { $0 = Array("this was a text once\n".utf8) }
      }
    }

    private static func change(_ path: String, _ body: (inout [UInt8]) -> Void) throws {
      var bytes = try Directory.bytes(of: path)
      body(&bytes)
      try FileDescriptor.open(path, [.write, .truncate]).writeAll(bytes.span)
    }

    private static func link(_ path: String) throws {
      guard rename(path, path + ".real") == 0, symlink(path + ".real", path) == 0 else { throw Errno(code: errno) }
    }

    private static func makeDirectory(_ path: String) throws {
      guard rename(path, path + ".real") == 0, mkdir(path, 0o700) == 0 else { throw Errno(code: errno) }
    }
  }

  @Test(arguments: Damage.allCases)
  func `a broker that cannot trust its files says which, exits with 7 and leaves them as they were`(
    _ damage: Damage
  ) async throws {
    try await Sandbox.run { sandbox in
      try Self.makeSession(sandbox)
      try damage.strike(sandbox.state)
      try Self.expectRefusal(sandbox, code: 7, naming: damage.name(in: sandbox.state))
    }
  }

  /// After a kill, the newest changes are in the write-ahead log alone: it must stay as well.
  @Test(arguments: [Damage.keyIsMissing, .keyIsAnother, .vaultHasABadPage, .vaultIsOpenToOthers, .vaultIsCutInHalf])
  func `after a kill the write-ahead log is left as it was, too`(_ damage: Damage) async throws {
    try await Sandbox.run { sandbox in
      try Self.makeSession(sandbox)
      let owner = try sandbox.owner()
      _ = try SocketWire(sandbox.socket).call("getAccessToken", #"{"forceRefresh":true}"#)
      sandbox.bury(owner)
      #expect(try FileStatus.ofLink(sandbox.state + "/vault.sqlite-wal").size > 0)
      try damage.strike(sandbox.state)
      try Self.expectRefusal(sandbox, code: 7, naming: damage.name(in: sandbox.state))
    }
  }

  @Test func `with the right key back, everything is there again`() async throws {
    try await Sandbox.run { sandbox in
      try Self.makeSession(sandbox)
      let token = try Self.token(sandbox)
      let key = sandbox.state + "/vault.key"
      rename(key, key + ".kept")
      #expect(try sandbox.refusedDaemon().code == 7)
      try FileDescriptor.open(key, [.write, .create]).writeAll([UInt8](repeating: 9, count: 32).span)
      #expect(try sandbox.refusedDaemon().code == 7)
      rename(key + ".kept", key)
      #expect(try Self.token(sandbox) == token)
    }
  }

  @Test(arguments: [(600, 8_000), (300, 20_000), (110, 30_000)])
  func `more tokens than the locked memory holds are all there, and served`(_ count: Int, _ bytes: Int) async throws {
    try await Sandbox.run { sandbox in
      // Each is more than 4 MiB in all, and each token rests encrypted.
      try Self.makeVault(sandbox.state, profiles: count, tokenByteCount: bytes)
      let profiles = (0..<count).map { #""p\#($0)":{"provider":"local"}"# }.joined(separator: ",")
      _ = try sandbox.owner(try sandbox.configure("{\"profiles\":{\(profiles)}}"))
      let client = try SocketWire(sandbox.socket)
      let sessions = try client.call("listSessions").required("sessions").elements()
      #expect(try sessions.count { try $0.required("state").string() == "authenticated" } == count)
      for index in 0..<count {
        let answer = try client.call("getAccessToken", #"{"profile":"p\#(index)"}"#)
        #expect(try answer.required("accessToken").string().utf8.count == bytes, "p\(index)")
      }
    }
  }

  /// Fills a new vault with sessions, each of which is let go once it is saved.
  private static func makeVault(_ state: String, profiles: Int, tokenByteCount: Int) throws {
    let binding = ProviderBinding(type: "local")
    let now = Timestamp(milliseconds: WallClock.milliseconds)
    let text = String(repeating: "t", count: tokenByteCount)
    guard mkdir(state, 0o700) == 0 else { throw Errno(code: errno) }
    try TaskResult.waiting {
      try Sealing.initialize()
      let vault = try await Vault.open(
        path: state + "/vault.sqlite", settings: KeySourceSettings(keyFilePath: state + "/vault.key"),
        anchorPath: state + "/vault.anchor")
      try await vault.unlock(nil)
      for index in 0..<profiles {
        guard let profile = ProfileName("p\(index)") else { continue }
        let tokens = TokenSet(
          accessToken: try Secret(utf8: text), accessTokenExpiresAt: now + .seconds(3600), refreshToken: nil)
        let session = LivingSession(tokens: tokens, user: nil, authTime: now, issuedAt: now, lastValidatedAt: now)
        try await vault.save(
          SessionRecord(profile: profile, binding: binding, generation: 1, contents: .living(session)))
      }
      try await vault.close()
    }
  }

  /// What a young vault has lost that only the files beside it tell of.
  enum Loss: CaseIterable {
    case lastChanges, everything

    /// Takes it from a closed vault; `old` is what its database was before the last changes.
    func strike(_ vault: String, old: [UInt8]) throws {
      for suffix in ["", "-wal", "-shm"] { unlink(vault + suffix) }
      guard self == .lastChanges else { return }
      try FileDescriptor.open(vault, [.write, .create]).writeAll(old.span)
    }
  }

  @Test(arguments: Loss.allCases)
  func `what a young vault has lost is an alert for clients, and an error when it is checked`(_ loss: Loss) async throws
  {
    try await Sandbox.run { sandbox in
      // No refresh by time comes between, however slow the machine is.
      let options = try sandbox.configure("{ local: { accessTokenLifetimeSeconds: 86400 } }")
      try Self.makeSession(sandbox, options)
      let vault = sandbox.state + "/vault.sqlite"
      let old = try Directory.bytes(of: vault)
      let owner = try sandbox.owner(options)
      _ = try SocketWire(sandbox.socket).call("getAccessToken", #"{"forceRefresh":true}"#)
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      try loss.strike(vault, old: old)
      _ = try sandbox.owner(options)
      let alert = try Self.firstAlert(sandbox)
      #expect(try alert.required("event").string() == "securityAlert")
      #expect(try alert.required("data").required("kind").string() == "storeTampering")
      let verdict = try SocketWire(sandbox.socket).call("checkVault")
      #expect(try !verdict.required("ok").bool())
      let kinds = try verdict.required("findings").elements()
        .filter { try $0.required("severity").string() == "error" }.map { try $0.required("kind").string() }
      #expect(kinds.contains("rolledBack"), "\(kinds)")
    }
  }

  @Test func `what a killed broker leaves behind is no obstacle`() async throws {
    try await Sandbox.run { sandbox in
      let first = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      sandbox.bury(first)
      // Its socket, and its lock file with a process that is no more, are there.
      #expect(try FileStatus.ofLink(sandbox.socket).kind == .socket)
      #expect(try FileStatus.ofLink(sandbox.state + "/broker.lock").size > 0)
      _ = try sandbox.owner()
      #expect(try !SocketWire(sandbox.socket).accessToken().isEmpty)
    }
  }

  @Test func `a file in the place of the socket stays, and is named`() async throws {
    try await Sandbox.run { sandbox in
      try Self.makeSession(sandbox)
      mkdir(sandbox.state + "/run", 0o700)
      try Directory.write("not a socket", to: sandbox.socket)
      let outcome = try sandbox.refusedDaemon()
      #expect(outcome.code != 0)
      #expect(outcome.errors.contains(sandbox.socket), "\(outcome.errors)")
      #expect(try Directory.bytes(of: sandbox.socket) == Array("not a socket".utf8))
      unlink(sandbox.socket)
      #expect(try !Self.token(sandbox).isEmpty)
    }
  }

  @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a disk read-only"))
  func `a disk that is mounted read-only is refused, and named`() async throws {
    try await Sandbox.run { sandbox in
      let disk = try SmallDisk(sandbox, at: sandbox.state, kilobytes: 16_384)
      try Self.makeSession(sandbox)
      try disk.setReadOnly(true)
      try Self.expectRefusal(sandbox, code: 1, naming: sandbox.state)
      try disk.setReadOnly(false)
      #expect(try !Self.token(sandbox).isEmpty)
    }
  }

  // MARK: What is compared

  /// Starts a broker that must refuse: with an exit code, one sentence that names what is wrong, and no file changed.
  private static func expectRefusal(_ sandbox: Sandbox, code: Int32, naming name: String) throws {
    let before = try Contents(of: sandbox.state)
    let outcome = try sandbox.refusedDaemon()
    #expect(outcome.code == code, "\(outcome.errors)")
    #expect(outcome.errors.contains(name), "\(outcome.errors)")
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 1, "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
    let after = try Contents(of: sandbox.state)
    #expect(after.differences(from: before).isEmpty)
  }

  /// Everything in a state directory but the lock file, which every broker that starts writes to, and stays.
  private struct Contents {
    private var files: [String: [UInt8]] = [:]

    init(of state: String) throws {
      for path in Directory.files(below: state) where path != state + "/broker.lock" {
        files[path] = try Directory.bytes(of: path) + [UInt8(truncatingIfNeeded: FileStatus.ofLink(path).permissions)]
      }
    }

    func differences(from other: Contents) -> [String] {
      Set(files.keys).union(other.files.keys).sorted().filter { files[$0] != other.files[$0] }.map { path in
        files[path] == nil ? "\(path) is gone" : other.files[path] == nil ? "\(path) is new" : "\(path) was changed"
      }
    }
  }

  /// The alert of a broker that has just started: told before most clients are there, and kept for those that come.
  private static func firstAlert(_ sandbox: Sandbox) throws -> JSONNode {
    while true {
      let sequence = try SocketWire(sandbox.socket).call("subscribe").required("sequence").integer()
      let client = try SocketWire(sandbox.socket)
      let params = #"{"events":["securityAlert"],"since":\#(max(sequence - 1, 0))}"#
      // Where nothing was told yet, the events before are those of another process.
      guard try client.call("subscribe", params)["resync"] == nil else { continue }
      return try client.nextNode().required("params")
    }
  }

  /// Leaves a vault with a session behind, and no owner.
  private static func makeSession(_ sandbox: Sandbox, _ options: [String] = []) throws {
    let owner = try sandbox.owner(options)
    try SocketWire(sandbox.socket).register()
    try owner.send(.terminate)
    guard try owner.wait() == 0 else { throw TestFailure(owner.errorText) }
  }

  private static func token(_ sandbox: Sandbox) throws -> String {
    let owner = try sandbox.owner()
    defer { sandbox.bury(owner) }
    return try SocketWire(sandbox.socket).accessToken()
  }
}
