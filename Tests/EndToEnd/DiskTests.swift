import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A disk that is full: nothing is lost, clients are served, and what could not be written is written later.
///
/// The embedded provider's folder lies on a disk of its own, as a remote would.
@Suite(.standardTimeLimit, .enabled(if: SmallDisk.isAvailable, "only root can mount a small disk"))
struct DiskTests {
  /// A broker on a small disk, its provider on another one, and a client that is told everything.
  private final class Stage {
    let disk: SmallDisk
    private let remote: SmallDisk
    private let sandbox: Sandbox
    private(set) var owner: Program
    private(set) var wire: SocketWire
    private(set) var watcher: SocketWire

    init(_ sandbox: Sandbox) throws {
      self.sandbox = sandbox
      disk = try SmallDisk(sandbox, at: sandbox.state, kilobytes: 4096)
      remote = try SmallDisk(sandbox, at: sandbox.state + "/local-provider", kilobytes: 16_384)
      owner = try sandbox.owner()
      wire = try SocketWire(sandbox.socket)
      try wire.register()
      watcher = try SocketWire(sandbox.socket)
      _ = try watcher.call("subscribe")
    }

    /// Kills the broker, and starts the next one.
    func restart() throws {
      sandbox.bury(owner)
      owner = try sandbox.owner()
      wire = try SocketWire(sandbox.socket)
      watcher = try SocketWire(sandbox.socket)
      _ = try watcher.call("subscribe")
    }

    /// Ends the broker in order.
    func stop() throws {
      try owner.send(.terminate)
      #expect(try owner.wait() == 0, "\(owner.errorText)")
    }

    /// Fills the disk until a login is refused.
    ///
    /// A broker may have kept some room for such a day; with that it can go on for a while.
    ///
    /// - Returns: how the login was refused; nil if it never was.
    func fillUp() throws -> String? {
      for _ in 0..<5 {
        try disk.fill()
        let account = #"{"email":"ada@example.com","password":"example password 1"}"#
        if let kind = try wire.refusal("login", account) { return kind }
      }
      return nil
    }

    /// By how many pages a refresh makes the write-ahead log longer.
    func pagesOfRefresh() throws -> Int {
      let log = sandbox.state + "/vault.sqlite-wal"
      let before = try FileStatus.ofLink(log).size
      _ = try refresh()
      // A frame is a page with a header of 24 bytes (sqlite.org/fileformat2.html).
      return Int(try FileStatus.ofLink(log).size - before) / (4096 + 24)
    }

    /// Refreshes with room for what is written before the provider is asked, and not for what it answers.
    ///
    /// The room may go to what the broker still has to write of the login that was refused: then there is another try. A
    /// refresh takes so many pages.
    func refreshUnstored(_ pages: Int) throws -> String {
      let isServed = try Patience.wait {
        try disk.fill()
        _ = try told()
        try disk.release(pages: pages - 1)
        return try wire.refusal("getAccessToken", #"{"forceRefresh":true}"#) == nil && isDegraded
      }
      guard isServed else { throw TestFailure("no refresh could be begun, or each was stored") }
      return try wire.accessToken()
    }

    var session: JSONNode { get throws { try wire.call("getSession") } }

    var isDegraded: Bool { get throws { try session["storeDegraded"]?.bool() ?? false } }

    func refresh() throws -> String {
      try wire.call("getAccessToken", #"{"forceRefresh":true}"#).required("accessToken").string()
    }

    /// The events that were told up to now.
    func told() throws -> [String] {
      var names: [String] = []
      try watcher.send(Array(#"{"jsonrpc":"2.0","id":"now","method":"ping"}"#.utf8))
      while case let message = try watcher.nextNode(), message["id"] == nil { names.append(try Self.name(message)) }
      return names
    }

    /// Waits for an event of a name; everything that came before it.
    func await(_ name: String) throws -> [String] {
      var names: [String] = []
      repeat { names.append(try Self.name(try watcher.nextNode())) } while names.last != name
      return names
    }

    private static func name(_ message: JSONNode) throws -> String {
      try message.required("params").required("event").string()
    }
  }

  @Test func `a login that cannot be stored is refused, and the session of before goes on`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      _ = try stage.told()
      #expect(try stage.fillUp() == "storeFailed")
      let token = try stage.wire.accessToken()
      #expect(try stage.session["state"]?.string() == "authenticated")
      try stage.restart()
      #expect(try stage.wire.accessToken() == token)
      stage.disk.empty()
      #expect(try !stage.refresh().isEmpty)
    }
  }

  @Test func `a refresh that cannot be stored is served, told when it is stored, and is there after a kill`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      _ = try stage.told()
      let pages = try stage.pagesOfRefresh()
      #expect(try stage.fillUp() == "storeFailed")
      let first = try stage.wire.accessToken()
      let second = try stage.refreshUnstored(pages)
      #expect(second != first)
      #expect(try stage.isDegraded)
      #expect(try stage.wire.accessToken() == second)
      #expect(try !stage.told().contains("tokenRefreshed"), "told before it was stored")
      stage.disk.empty()
      _ = try stage.await("tokenRefreshed")
      #expect(try !stage.isDegraded)
      try stage.restart()
      #expect(try stage.wire.accessToken() == second)
      // The refresh token that belongs to it was stored as well.
      #expect(try stage.refresh() != second)
    }
  }

  @Test func `an account that the embedded provider cannot save on a full disk is refused with that cause`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let own = try SmallDisk(sandbox, at: sandbox.state, kilobytes: 16_384)
      let remote = try SmallDisk(sandbox, at: sandbox.state + "/local-provider", kilobytes: 1024)
      _ = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      var refusal: JSONNode?
      for number in 0..<5 where refusal == nil {
        try remote.fill()
        let account = #"{"email":"bob\#(number)@example.com","password":"example password 1"}"#
        refusal = try wire.answer("register", account)["error"]
      }
      let message = try #require(refusal).required("message").string()
      #expect(message.hasPrefix("The disk is full: the embedded provider could not save anything;"), "\(message)")
      remote.empty()
      let account = #"{"email":"bob@example.com","password":"example password 1"}"#
      #expect(try wire.call("register", account).required("status").string() == "authenticated")
      withExtendedLifetime(own) {}
    }
  }

  @Test func `the first account on a disk with ever so little room is saved, or refused with that cause`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let disk = try SmallDisk(sandbox, at: sandbox.state, kilobytes: 1024)
      _ = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      #expect(try sandbox.command("status").code == 0)
      try disk.fill()
      let account = #"{"email":"ann@example.com","password":"example password 1"}"#
      for pages in [0, 1, 4, 8] {
        try disk.release(pages: pages)
        guard let error = try wire.answer("register", account)["error"] else { return }
        let message = try error.required("message").string()
        #expect(message.hasPrefix("The disk is full"), "\(pages): \(message)")
      }
      disk.empty()
      #expect(try wire.call("register", account).required("status").string() == "authenticated")
    }
  }

  @Test func `a logout on a full disk ends the session at once, and for good when there is room`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      _ = try stage.told()
      try stage.disk.fill()
      let kind = try stage.wire.refusal("logout")
      #expect(kind == nil || kind == "storeFailed")
      #expect(try stage.session["state"]?.string() == "signedOut")
      #expect(try stage.told().contains("logout") == (kind == nil))
      stage.disk.empty()
      if kind != nil { #expect(try stage.await("logout") == ["logout"]) }
      try stage.restart()
      #expect(try stage.session["state"]?.string() == "signedOut")
      #expect(try stage.wire.refusal("getAccessToken") == "loginRequired")
    }
  }

  @Test func `a broker with an unstored token stops only by a signal, and says what is lost`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      _ = try stage.told()
      let pages = try stage.pagesOfRefresh()
      #expect(try stage.fillUp() == "storeFailed")
      let token = try stage.refreshUnstored(pages)
      let stop = try sandbox.command("stop")
      #expect(stop.code == 7 && stop.errors.contains("default would be lost"), "\(stop.errors)")
      #expect(try stage.wire.accessToken() == token)
      try stage.owner.send(.terminate)
      #expect(try stage.owner.wait() == 7)
      #expect(stage.owner.errorText.contains("the newest state of default is lost"), "\(stage.owner.errorText)")
    }
  }

  @Test func `a broker that starts on a full disk serves what it has, and recovers without another start`() async throws
  {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      let token = try stage.wire.accessToken()
      try stage.disk.fill()
      try stage.restart()
      #expect(try stage.wire.accessToken() == token)
      stage.disk.empty()
      let next = try stage.refresh()
      #expect(try !stage.isDegraded)
      try stage.restart()
      #expect(try stage.wire.accessToken() == next)
    }
  }

  @Test func `a command that starts a broker on a full disk gets the token that lives`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      let token = try stage.wire.accessToken()
      try stage.stop()
      try stage.disk.fill()
      let outcome = try sandbox.command("token")
      #expect(outcome.code == 0 && outcome.output == token + "\n", "\(outcome.errors)")
      let stop = try sandbox.command("stop")
      #expect(stop.code == 0, "\(stop.errors)")
      stage.disk.empty()
      try stage.restart()
      #expect(try stage.wire.accessToken() == token)
    }
  }

  @Test func `files that may not grow are a refusal, not the end, and nothing is lost`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      let token = try wire.accessToken()
      // As a disk that answers with an error of its own; the signal that comes with it would be the end.
      func limit(_ size: String) throws -> Int32 {
        try sandbox.run("/usr/bin/prlimit", ["--pid", "\(owner.pid)", "--fsize=\(size)"]).code
      }
      #expect(try limit("4096:unlimited") == 0)
      let kinds = ["storeFailed", "providerUnavailable"]
      #expect(kinds.contains(try wire.refusal("getAccessToken", #"{"forceRefresh":true}"#) ?? ""))
      let account = #"{"email":"ada@example.com","password":"example password 1"}"#
      #expect(kinds.contains(try wire.refusal("login", account) ?? ""))
      #expect(try wire.accessToken() == token)
      // The broker may be trying again at this very moment.
      let state = try wire.call("getSession").required("state").string()
      #expect(["authenticated", "offline", "refreshing"].contains(state), "\(state)")
      #expect(try limit("unlimited:unlimited") == 0)
      #expect(try wire.call("login", account)["status"]?.string() == "authenticated")
      let next = try wire.accessToken()
      sandbox.bury(owner)
      _ = try sandbox.owner()
      #expect(try SocketWire(sandbox.socket).accessToken() == next)
    }
  }
}
