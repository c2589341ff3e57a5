import BrokerCore
import BrokerProtocol
import BrokerServer
import Synchronization
import TestSupport
import Testing

/// Requests for the token of an address that wait while the targets are configured otherwise.
@Suite(.standardTimeLimit) struct AddressTests {
  private static let url = "https://git.example.com/team/repo"

  private static func line(_ method: String, _ params: String, _ id: Int = 9) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
  }

  private static func map(_ profile: String?, user: String? = nil) throws -> TargetMap {
    var map = TargetMap()
    guard let profile = profile.flatMap(ProfileName.init) else { return map }
    let target = Target(url: "https://git.example.com", profile: profile, username: user)
    _ = map.add(target, at: try TargetAddress(target.url))
    return map
  }

  /// A server with two profiles, and a client that waits for a login of the first one's by an address.
  private struct Stage {
    let harness: ServerHarness
    let waiting: TestClient
    let other: TestClient

    init() throws {
      harness = try ServerHarness(profiles: ["one", "two"], targets: try AddressTests.map("one"))
      (waiting, other) = (try harness.connect(), try harness.connect())
      other.prove()
      #expect(
        waiting.ask(AddressTests.line("getAccessToken", #"{"url":"\#(AddressTests.url)","waitForLogin":true}"#)).isEmpty
      )
    }

    /// Takes over another map, and these profiles where they are others.
    func take(_ map: TargetMap, _ profiles: [String] = ["one", "two"]) {
      harness.server.assumeIsolated { $0.hold(questionsOutside: map) }
      let settings = profiles.compactMap(ProfileName.init).map {
        ProfileSettings(name: $0, provider: harness.provider)
      }
      harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
      harness.settle()
      harness.targets.value = map
      harness.server.assumeIsolated { $0.askHeldQuestions() }
      harness.settle()
    }

    func logIn(_ profile: String) {
      let params = #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#
      #expect(other.ask(AddressTests.line("login", params)).first?.contains("authenticated") == true)
    }
  }

  @Test(arguments: [["one", "two"], ["two"]])
  func `a request that waits by an address follows it to another profile`(_ profiles: [String]) async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.take(try Self.map("two", user: "bot"), profiles)
      #expect(stage.waiting.lines().isEmpty)
      if profiles.contains("one") {
        stage.logIn("one")
        #expect(stage.waiting.lines().isEmpty, "a token of the first profile is not the address's any more")
      }
      stage.logIn("two")
      let answer = stage.waiting.lines().first ?? ""
      #expect(answer.contains(#""profile":"two""#), "\(answer)")
      #expect(answer.contains(#""target":{"prefix":"https://git.example.com","username":"bot"}"#), "\(answer)")
    }
  }

  @Test func `a request whose address has no target any more is told so`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.take(try Self.map(nil))
      #expect(stage.waiting.lines().first?.contains(#""kind":"unknownTarget""#) == true)
      stage.logIn("one")
      #expect(stage.waiting.lines().isEmpty)
    }
  }

  @Test func `a request whose target stays goes on waiting, no longer than it has asked for`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      stage.take(try Self.map("one"))
      stage.logIn("one")
      #expect(stage.waiting.lines().first?.contains(#""profile":"one""#) == true)
    }
  }

  @Test func `a request that was cancelled, or whose client has left, is not asked again`() async throws {
    try await OwnThread.run {
      let stage = try Stage()
      let map = try Self.map("two")
      stage.harness.server.assumeIsolated { $0.hold(questionsOutside: map) }
      stage.waiting.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"# + "\n")
      #expect(stage.waiting.lines().first?.contains(#""kind":"cancelled""#) == true)
      stage.harness.targets.value = map
      stage.harness.server.assumeIsolated { $0.askHeldQuestions() }
      stage.logIn("two")
      #expect(stage.waiting.lines().isEmpty)
    }
  }
}

/// A map of targets that a test exchanges.
final class TargetBox: Sendable {
  private let map = Mutex(TargetMap())

  var value: TargetMap {
    get { map.withLock { $0 } }
    set { map.withLock { $0 = newValue } }
  }
}
