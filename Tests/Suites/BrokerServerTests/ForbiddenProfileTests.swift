import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// That a profile which is forbidden to a client is answered as one that does not exist: the same bytes but for the name.
@Suite(.standardTimeLimit) struct ForbiddenProfileTests {
  private static let profiles = ["default", "shop", "work"].compactMap(ProfileName.init)
  private static let shop = [profiles[1]]
  /// The forbidden profile, and one that is not configured, of the same length.
  private static let names = ["work", "nope"]

  /// The ways in which a client can be limited to one profile.
  private static let ways: [(entrance: Entrance, policy: AccessPolicy)] = [
    (.limited("ci"), AccessPolicy(sockets: ["ci": .init(profiles: shop, Allowance())])),
    (.limited("ci"), AccessPolicy(sockets: ["ci": .init(profiles: shop, Allowance(methods: ["getAccessToken"]))])),
    (.pair, AccessPolicy(rules: [.init(ClientPattern(), profiles: shop, Allowance(mayHold: false))])),
    (
      .pair,
      AccessPolicy(rules: [
        .init(ClientPattern(tool: "git"), profiles: nil, Allowance()),
        .init(ClientPattern(), profiles: shop, Allowance(scopes: ["x"], audiences: ["urn:a"])),
      ])
    ),
  ]

  /// What can be asked of a profile.
  private static let questions = HiddenProfileTests.questions.flatMap { method, params in
    params.filter { $0.contains("\"work\"") }.map { (method: method, params: $0) }
  }.sorted { ($0.method, $0.params) < ($1.method, $1.params) }

  private struct Stage {
    let harness: ServerHarness
    let owner: TestClient
    let entrance: Entrance

    init(_ way: (entrance: Entrance, policy: AccessPolicy)) throws {
      harness = try ServerHarness(profiles: profiles.map(\.description))
      owner = try harness.connect()
      owner.prove()
      entrance = way.entrance
      for profile in profiles { act("login", "\(profile)") }
      harness.set(way.policy)
    }

    func act(_ method: String, _ profile: String) {
      _ = owner.ask(
        LoginStage.line(method, #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#))
    }

    /// What a new client is told, with one word for the profile.
    func ask(_ line: String, about name: String) throws -> [String] {
      let client = try harness.connect(as: entrance)
      defer { client.close() }
      return HiddenProfileStage.common(client.askBare(line.replacing("\"work\"", with: "\"\(name)\""))).map {
        $0.replacing(name, with: "NAME")
      }
    }
  }

  @Test(arguments: ways.indices)
  func `whatever is asked, a forbidden profile and an unknown one are the same but for the name`(
    _ way: Int
  ) async throws {
    try await OwnThread.run {
      let stage = try Stage(Self.ways[way])
      var pairs = 0
      for (method, params) in Self.questions {
        let line = LoginStage.line(method, params)
        for form in [line, "[\(line),\(LoginStage.line("ping", "{}", 8))]"] {
          let told = try Self.names.map { try stage.ask(form, about: $0) }
          #expect(!told[0].isEmpty && told[0] == told[1], "\(form)")
          pairs += 1
        }
      }
      #expect(pairs >= 50)
    }
  }

  @Test(arguments: [[], ["shop"]] as [[String]])
  func `a subscription to a forbidden profile hears what one to an unknown profile hears`(
    _ others: [String]
  ) async throws {
    try await OwnThread.run {
      let stage = try Stage(Self.ways[0])
      let told = try Self.names.map { name in
        let client = try stage.harness.connect(as: stage.entrance)
        let list = (others + [name]).map { "\"\($0)\"" }.joined(separator: ",")
        var lines = client.askBare(LoginStage.line("subscribe", #"{"profiles":[\#(list)],"since":0}"#))
        for (method, profile) in [("logout", "work"), ("login", "work"), ("logout", "shop"), ("login", "shop")] {
          stage.act(method, profile)
          lines += client.lines()
        }
        lines +=
          client.askBare(LoginStage.line("getStatus", "{}")) + client.askBare(LoginStage.line("listSessions", "{}"))
        return HiddenProfileStage.common(lines).map {
          $0.replacing(name, with: "NAME").replacing(#/"(time|[a-zA-Z]+At)":"[^"]*"/#, with: "")
            .replacing(#/"subscriptionId":"[^"]*"/#, with: "")
        }
      }
      #expect(told[0].count >= 3 && told[0] == told[1])
    }
  }
}
