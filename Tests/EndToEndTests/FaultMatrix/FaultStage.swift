import BrokerProtocol
import Glibc
import JSONRPC
import LinuxSystem

/// A backend that rotates without any leeway, a broker with a session on it, and a client that notes what it gets.
final class FaultStage {
  /// What a row may want of them.
  struct Setting: Sendable {
    /// How long access tokens live, in seconds.
    var lifetime = 600
    /// More options of the backend.
    var backend: [String] = []
    /// Whether the broker refreshes before anybody asks.
    var backgroundRefresh = true
    /// More keys of the profile.
    var profile = ""
    /// More members of the configuration, each with a comma behind it.
    var configuration = ""
    /// Whether the backend is spoken to by TLS.
    var usesTLS = false
    /// What sending a token again may cost at that backend.
    var allowance = FaultLedger.Allowance.none
  }

  /// A machine that does much else was too slow for the row: the token, or a request, ended before its time.
  struct TooSlow: Error {}

  static let credentials = #"{"email":"ada@example.com","password":"example password 1"}"#
  private static let force = #"{"forceRefresh":true}"#

  let backend: RESTBackend
  /// What chooses the configuration.
  let options: [String]
  private let sandbox: Sandbox
  /// The configuration but for its end.
  private let configuration: String
  private(set) var owner: Program
  private(set) var client: SocketWire
  private var watcher: SocketWire
  /// What the client got, in order: tokens are `A1`, `A2`, … as they are first seen, errors are their kinds.
  private(set) var heard: [String] = []
  private var tokens: [String] = []
  /// When the first token ends, by the wall clock.
  private(set) var tokenEnd = Timestamp(milliseconds: 0)
  private let setting: Setting

  /// Starts both, without a session.
  private init(_ sandbox: Sandbox, _ setting: Setting) throws {
    self.sandbox = sandbox
    self.setting = setting
    let lifetime = ["--set", "accessTokenLifetimeSeconds=\(setting.lifetime)"] + (setting.usesTLS ? ["--tls"] : [])
    backend = try RESTBackend(sandbox, account: Self.credentials, lifetime + setting.backend)
    let tls = setting.usesTLS ? "tls: { caFile: \"\(backend.caFile)\" }," : ""
    let profile =
      "provider: \"rest\", baseUrl: \"\(backend.url)\", \(tls) backgroundRefresh: \(setting.backgroundRefresh)"
    configuration = "\(setting.configuration) profiles: { default: { \(profile), \(setting.profile) }"
    options = try sandbox.configure("{ \(configuration) } }")
    owner = try sandbox.owner(options)
    client = try SocketWire(sandbox.socket)
    watcher = try Self.watcher(sandbox)
  }

  /// How often something is tried on a machine that is too slow for it, each time with tokens that live twice as long.
  private static let attempts = 3

  /// Runs a test on a stage with a session.
  static func run(
    in room: Room, _ setting: Setting, _ body: @Sendable (FaultStage, Sandbox) throws -> Void
  ) async throws {
    var setting = setting
    for attempt in 1... {
      do {
        return try await Sandbox.run(in: room) { [setting] sandbox in
          let stage = try FaultStage(sandbox, setting)
          try stage.logIn()
          try body(stage, sandbox)
        }
      } catch let failure as TooSlow {
        guard attempt < attempts else { throw failure }
        setting.lifetime *= 2
      }
    }
  }

  private static func watcher(_ sandbox: Sandbox) throws -> SocketWire {
    let watcher = try SocketWire(sandbox.socket)
    _ = try watcher.call("subscribe")
    return watcher
  }

  // MARK: The client

  /// Logs in, and sees the first token and its end.
  func logIn() throws {
    try logInAgain()
    let first = try ask()
    guard first == "A1" else { throw TestFailure("the first token is \(first)") }
    heard = []
    guard
      let end = try Timestamp(
        client.call("getSession", #"{"profile":"default"}"#).required("accessTokenExpiresAt").string())
    else {
      throw TestFailure("the token has no end")
    }
    tokenEnd = end
  }

  /// Begins a new session in place of the one that is there.
  func logInAgain() throws {
    guard try client.call("login", Self.credentials)["status"]?.string() == "authenticated" else {
      throw TestFailure("the login gave no session")
    }
  }

  /// Asks for a token that will do.
  @discardableResult
  func ask() throws -> String { try hear(client.ask(Self.request("{}"))) }

  /// Asks for a new token.
  @discardableResult
  func force() throws -> String { try hear(client.ask(Self.request(Self.force))) }

  /// Asks for a new token on a connection of its own, whose answer is not waited for.
  func beginForce() throws -> SocketWire {
    let wire = try SocketWire(sandbox.socket)
    try wire.send(Array(Self.request(Self.force).utf8))
    return wire
  }

  /// The answer that was not waited for.
  @discardableResult
  func finish(_ wire: SocketWire) throws -> String { try hear(wire.nextNode()) }

  private static func request(_ params: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":\#(params)}"#
  }

  private func hear(_ answer: JSONNode) throws -> String {
    let word = try describe(answer)
    heard.append(word)
    return word
  }

  private func describe(_ answer: JSONNode) throws -> String {
    guard let result = answer["result"] else {
      return try answer.required("error").required("data").required("kind").string()
    }
    let token = try result.required("accessToken").string()
    if !tokens.contains(token) { tokens.append(token) }
    let name = "A\((tokens.firstIndex(of: token) ?? 0) + 1)"
    return try result["offline"]?.bool() == true ? name + " offline" : name
  }

  /// Asks until there is another token than one, and notes that.
  func awaitToken(after token: String) throws {
    let deadline = BootClock.now + ByteInlet.patience
    var word = token
    while word == token {
      guard BootClock.now < deadline else { throw TestFailure("no other token") }
      word = try describe(client.ask(Self.request("{}")))
    }
    heard.append(word)
  }

  /// Makes sure that less than a share of the first token's life is over.
  ///
  /// - Throws: ``TooSlow``.
  func requireLife(share: Double) throws {
    let rest = Double(tokenEnd.milliseconds - WallClock.milliseconds) / 1000
    guard rest > Double(setting.lifetime) * (1 - share) else { throw TooSlow() }
  }

  /// Waits until the first token has ended.
  func awaitTokenEnd() {
    while true {
      let left = tokenEnd.milliseconds - WallClock.milliseconds
      guard left > 0 else { return }
      usleep(UInt32(left) * 1000)
    }
  }

  /// Waits until the backend has seen another refresh token than so many.
  func awaitUse(after count: Int) throws {
    let deadline = BootClock.now + ByteInlet.patience
    while try FaultLedger(backend).uses.count <= count {
      guard BootClock.now < deadline else { throw TestFailure("no refresh token comes") }
      _ = try backend.ask("/ledger?after=\(try FaultLedger(backend).sequence)&event=refresh&waitSeconds=10")
    }
  }

  /// Waits for the event that ends the doubt about a session.
  func awaitDecision() throws { try awaitEvent(["tokenRefreshed", "sessionExpired"]) }

  /// Waits for one of some events.
  func awaitEvent(_ names: [String]) throws {
    var name: String?
    repeat { name = try watcher.nextNode()["params"]?["event"]?.string() } while !names.contains(name ?? "")
  }

  /// Where the session stands, and why it has ended if it has.
  func session(_ wire: SocketWire? = nil) throws -> String {
    let session = try (wire ?? client).call("getSession", #"{"profile":"default"}"#)
    let reason = try session.optional("loginRequiredReason", String.init(from:))
    return try session.required("state").string() + (reason.map { " (\($0))" } ?? "")
  }

  // MARK: The backend

  /// Lets refreshes go wrong, before the broker would begin one by itself.
  func misbehave(_ name: String, _ more: String = "") throws {
    if setting.backgroundRefresh { try requireLife(share: 0.75) }
    _ = try backend.ask("/misbehave", "{\"endpoint\":\"refresh\",\"name\":\"\(name)\"\(more)}")
  }

  /// Lets everything go well again.
  func behave() throws { _ = try backend.ask("/misbehave", #"{"replace":true,"steps":[]}"#) }

  /// Ends the connections that are kept open without a request, so that the next request makes a new one.
  func endConnections() throws { _ = try backend.ask("/end-connections", "{}") }

  /// Opens or closes the backend's port.
  func listen(_ isOpen: Bool) throws { _ = try backend.ask("/listen", "{\"open\":\(isOpen)}") }

  /// Waits until a request is held.
  func awaitHeld() throws {
    let held = try backend.ask("/held?waitSeconds=40").required("held").elements()
    guard held.count == 1 else { throw TestFailure("\(held.count) requests are held") }
  }

  /// Lets whoever is held go on, and waits until it has.
  func release() throws {
    _ = try backend.ask("/release", "{}")
    let deadline = BootClock.now + ByteInlet.patience
    while try !backend.ask("/held").required("held").elements().isEmpty {
      guard BootClock.now < deadline else { throw TestFailure("a request is held for ever") }
    }
  }

  /// Waits until the backend has read everything from connections that nobody holds any more.
  func awaitSilence() throws {
    let deadline = BootClock.now + ByteInlet.patience
    while try backend.ask("/state").required("openConnections").integer() > 0 {
      guard BootClock.now < deadline else { throw TestFailure("a connection stays open") }
    }
  }

  // MARK: The broker

  /// Kills the broker, as kill(1) does with -9.
  func kill() { sandbox.bury(owner) }

  /// Configures another profile.
  func add(_ profile: String) throws {
    _ = try sandbox.configure("{ \(configuration), \(profile) } }")
    _ = try client.call("reloadConfig")
  }

  /// Ends the broker in order.
  func stop() throws {
    try owner.send(.terminate)
    guard try owner.wait() == 0 else { throw TestFailure("the broker has not ended in order") }
  }

  /// Starts the next broker on the same state directory.
  func restart() throws {
    owner = try sandbox.owner(options)
    client = try SocketWire(sandbox.socket)
    watcher = try Self.watcher(sandbox)
  }

  /// Lets no file of the broker grow, as on a full disk: nothing becomes durable any more (setrlimit(2)).
  func fillDisk() throws {
    let limit = ["--pid", "\(owner.pid)", "--fsize=4096:unlimited"]
    guard try sandbox.run("/usr/bin/prlimit", limit).code == 0 else { throw TestFailure("prlimit says no") }
  }
}
