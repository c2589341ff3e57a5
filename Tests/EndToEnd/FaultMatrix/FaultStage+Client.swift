import BrokerProtocol
import Glibc
import JSON
import LinuxSystem
import TestSupport

/// What a client does, and what it waits for.
extension FaultStage {
  /// Logs in, and sees the first token and its end.
  func logIn() throws {
    let began = BootClock.now
    try logInAgain()
    let first = try ask()
    // Later there might be another one already.
    guard BootClock.now - began < .seconds(setting.lifetime) / 2 else { throw TooSlow() }
    guard first == "A1" else { throw TestFailure("the first token is \(first)") }
    answers.forgetWords()
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
  func ask() throws -> String { try answers.note(client.ask(Self.request("{}"))) }

  /// Asks for a new token.
  @discardableResult
  func force() throws -> String { try answers.note(client.ask(Self.request(Self.force))) }

  /// Reports that an API has refused the present token, and notes what is to be used instead.
  @discardableResult
  func reportRejected() throws -> String {
    let id = try client.call("getAccessToken").required("tokenId").string()
    // What an API refuses is worth nothing any more.
    tokenEnd = Timestamp(milliseconds: WallClock.milliseconds)
    let params = #"{"tokenId":"\#(id)","status":401}"#
    return try answers.note(
      client.ask(#"{"jsonrpc":"2.0","id":1,"method":"reportRejected","params":\#(params)}"#))
  }

  /// Asks for a new token on a connection of its own, whose answer is not waited for.
  func beginForce() throws -> SocketWire {
    let wire = try SocketWire(sandbox.socket)
    try wire.send(Array(Self.request(Self.force).utf8))
    return wire
  }

  /// The answer that was not waited for.
  @discardableResult
  func finish(_ wire: SocketWire) throws -> String { try answers.note(wire.nextNode()) }

  private static let force = #"{"forceRefresh":true}"#

  private static func request(_ params: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":\#(params)}"#
  }

  /// Asks until there is another token than one, and notes that.
  func awaitToken(after token: String) throws {
    let deadline = Patience.end
    var word = token
    while word == token || word == token + " offline" {
      guard BootClock.now < deadline else { throw TestFailure("no other token") }
      word = try answers.describe(client.ask(Self.request("{}")))
    }
    answers.add(word)
  }

  /// Makes sure that less than a share of the first token's life is over.
  ///
  /// - Throws: ``TooSlow``.
  func requireLife(share: Double) throws {
    let rest = Double(tokenEnd.milliseconds - WallClock.milliseconds) / 1000
    guard rest > Double(setting.lifetime) * (1 - share) else { throw TooSlow() }
  }

  /// Waits until the first token has ended, or lives for less than so many seconds.
  func awaitTokenEnd(before seconds: Int64 = 0) {
    while true {
      let left = tokenEnd.milliseconds - seconds * 1000 - WallClock.milliseconds
      guard left > 0 else { return }
      usleep(UInt32(left) * 1000)
    }
  }

  /// Waits until the backend has seen another refresh token than so many.
  func awaitUse(after count: Int) throws {
    let deadline = Patience.end
    while try FaultLedger(backend).uses.count <= count {
      guard BootClock.now < deadline else { throw TestFailure("no refresh token comes") }
      _ = try backend.ask("/ledger?after=\(try FaultLedger(backend).sequence)&event=refresh&waitSeconds=10")
    }
  }

  /// Waits for the event that ends the doubt about a session.
  func awaitDecision() throws { try awaitEvent(["tokenRefreshed", "sessionExpired"]) }

  /// Waits for one of some events.
  func awaitEvent(_ names: [String]) throws {
    repeat {
      events.append(try watcher.nextNode().required("params").required("event").string())
    } while !names.contains(events.last ?? "")
  }

  /// Where the session stands, and why it has ended if it has.
  func session(_ wire: SocketWire? = nil) throws -> String {
    let session = try (wire ?? client).call("getSession", #"{"profile":"default"}"#)
    let reason = try session.optional("loginRequiredReason", String.init(from:))
    return try session.required("state").string() + (reason.map { " (\($0))" } ?? "")
  }
}
