import BrokerCore
import BrokerProtocol
import TestSupport

/// A client for which one profile exists, and all that others do with the profiles that do not.
///
/// Two stages tell what it learns of those: one on which nothing but its own profile is configured, and one on which the
/// others have sessions, pending logins and subscribers. What it is told must be the same.
struct HiddenProfileStage {
  let harness: ServerHarness
  /// For which `shop` alone exists.
  let client: TestClient
  /// For which everything exists.
  let owner: TestClient
  /// Hears of everything.
  let watcher: TestClient
  /// Another connection, where others are busy.
  private var other: TestClient?
  /// The handles of what waits on hidden profiles: a code, a user, a second factor.
  private(set) var handles = ["OTP": "handle-97", "FLOW": "handle-98", "FACTOR": "handle-99"]

  init(isBusy: Bool, targets: TargetMap = TargetMap()) throws {
    let profiles = isBusy ? ["default", "shop", "spare", "work"] : ["shop"]
    harness = try ServerHarness(profiles: profiles, targets: targets) { provider in
      provider.setLoginMethods([.password, .deviceCode])
      provider.setEnrols(attempts: 5)
    }
    (owner, watcher) = (try harness.connect(), try harness.connect())
    for client in [owner, watcher] { client.prove() }
    client = try harness.connect(Permissions(only: [ProfileName("shop")].compactMap(\.self)))
    _ = watcher.ask(LoginStage.line("subscribe"))
    _ = logIn("shop")
    if isBusy { try occupy() }
    _ = watcher.lines()
  }

  /// Gives each hidden profile something that a client could learn of.
  private mutating func occupy() throws {
    other = try harness.connect()
    _ = logIn("work")
    harness.provider.setWantsCode(true)
    handles["OTP"] = try Self.handle("otpFlowId", in: logIn("default"))
    harness.provider.setWantsCode(false)
    let action = act("login", #"{"profile":"spare","method":"deviceCode"}"#)
    handles["FLOW"] = try LoginStage.loginFlow(action)
    let update = act("updateProfile", #"{"profile":"work","changes":{"twoFactor":"totp"}}"#)
    handles["FACTOR"] = try Self.handle("otpFlowId", in: update)
    _ = owner.ask(LoginStage.line("getAccessToken", #"{"profile":"work"}"#))
    _ = owner.ask(LoginStage.line("subscribe"))
  }

  private struct Missing: Error { let text: String }

  private static func handle(_ name: String, in answer: String) throws -> String {
    let parts = answer.split(separator: "\"\(name)\":\"", maxSplits: 1)
    guard parts.count == 2, let handle = parts[1].split(separator: "\"").first else { throw Missing(text: answer) }
    return String(handle)
  }

  /// What the owner does.
  @discardableResult
  func act(_ method: String, _ params: String) -> String {
    owner.ask(LoginStage.line(method, params)).first { $0.contains(#""id":9"#) } ?? ""
  }

  @discardableResult
  func logIn(_ profile: String) -> String {
    act("login", #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#)
  }

  /// What the client is told, in answers and events, without what differs between any two brokers.
  func ask(_ method: String, _ params: String = "{}") -> [String] {
    var params = params
    for (name, handle) in handles { params = params.replacing("<\(name)>", with: handle) }
    return Self.common(client.askBare(LoginStage.line(method, params)))
  }

  /// What the client was told since the last time.
  var told: [String] { Self.common(client.lines()) }

  /// Lets time pass.
  func wait(_ seconds: Double) {
    harness.clock.advance(by: .seconds(seconds))
    harness.settle()
  }

  /// The same lines without what differs between any two requests.
  static func common(_ lines: [String]) -> [String] {
    lines.map { line in
      line.replacing(#/(access|refresh|handle)-\d+/#) { String($0.output.1) }
        .replacing(#/"tokenId":"[^"]*"/#, with: "")
        .replacing(#/"correlationId":"[^"]*"/#, with: "")
        .replacing(#/"proof":\{[^}]*\}/#, with: "")
        .replacing(#/create the empty file [^"]*"/#, with: "")
        .replacing(#/"uptimeSeconds":[0-9.e-]+/#, with: "")
    }
  }
}
