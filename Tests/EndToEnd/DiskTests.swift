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
  private typealias Stage = DiskStage

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

  @Test(arguments: [Signal.kill, .terminate])
  func `a logout on a disk without any room is durable, over every end of the broker`(_ end: Signal) async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      _ = try stage.told()
      try stage.disk.fill()
      // A quicker writer has what the vault keeps for itself.
      unlink(sandbox.state + "/vault.sqlite.reserve")
      #expect(try stage.fillUp() == "storeFailed")
      #expect(try stage.wire.refusal("logout") == nil)
      #expect(try stage.told().contains("logout"))
      if end == .terminate { try stage.stop() }
      try stage.restart()
      #expect(try stage.session["state"]?.string() == "signedOut")
      #expect(try stage.wire.refusal("getAccessToken") == "loginRequired")
      stage.disk.empty()
      let account = #"{"email":"ada@example.com","password":"example password 1"}"#
      #expect(try stage.wire.call("login", account)["status"]?.string() == "authenticated")
      try stage.restart()
      #expect(try stage.session["state"]?.string() == "authenticated")
    }
  }

  @Test func `a broker with an unstored token stops by request as soon as there is room`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      _ = try stage.told()
      let pages = try stage.pagesOfRefresh()
      #expect(try stage.fillUp() == "storeFailed")
      let token = try stage.refreshUnstored(pages)
      #expect(try sandbox.command("stop").code == 7)
      stage.disk.empty()
      let stop = try sandbox.command("stop")
      #expect(stop.code == 0, "\(stop.errors)")
      #expect(try stage.owner.wait() == 0)
      try stage.restart()
      #expect(try stage.wire.accessToken() == token)
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
