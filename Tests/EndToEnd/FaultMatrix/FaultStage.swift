import BrokerProtocol
import Glibc
import JSON
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

  /// The account of the backend, and how to log in to it.
  static let credentials = #"{"email":"ada@example.com","password":"example password 1"}"#

  /// The backend, with one account.
  let backend: RESTBackend
  /// What chooses the configuration.
  let options: [String]
  /// Where all of it runs.
  let sandbox: Sandbox
  /// The configuration but for its end.
  private let configuration: String
  /// The broker that was started last.
  private(set) var owner: Program
  /// Asks it.
  private(set) var client: SocketWire
  /// Is told its events.
  private(set) var watcher: SocketWire
  /// What the client got.
  var answers = AnswerBook()
  /// The names of the events that were waited for, and of those before them.
  var events: [String] = []
  /// When the first token ends, by the wall clock.
  var tokenEnd = Timestamp(milliseconds: 0)
  /// What was wanted.
  let setting: Setting

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
  private static let attempts = 5

  /// Runs a test on a stage with a session.
  static func run(
    in room: Room, _ setting: Setting, _ body: @Sendable (FaultStage, Sandbox) throws -> Void
  ) async throws {
    var setting = setting
    for attempt in 1... {
      do {
        return try await Sandbox.run(in: room) { [setting] sandbox in
          let stage = try explained("the start") { try FaultStage(sandbox, setting) }
          try explained("the login") { try stage.logIn() }
          try body(stage, sandbox)
        }
      } catch let failure as TooSlow {
        guard attempt < attempts else { throw failure }
        setting.lifetime *= 2
      }
    }
  }

  /// Says where a test could not go on.
  private static func explained<Value>(_ place: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let failure as TestFailure { throw TestFailure("\(place): \(failure)") }
  }

  private static func watcher(_ sandbox: Sandbox) throws -> SocketWire {
    let watcher = try SocketWire(sandbox.socket)
    _ = try watcher.call("subscribe")
    return watcher
  }

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
