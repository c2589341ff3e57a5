import BrokerCore
import BrokerProtocol
import BrokerServer
import JSON
import LinuxSystem
import TestSupport
import Testing

/// Rules for the process of a client, and what administrators are told of clients: over the whole server.
@Suite(.standardTimeLimit) struct ClientProcessTests {
  private static let shop = [ProfileName("shop")].compactMap(\.self)
  private static let token = LoginStage.line("getSession", #"{"profile":"shop"}"#)

  private static func harness() throws -> ServerHarness { try ServerHarness(profiles: ["default", "shop", "work"]) }

  private static func policy(_ client: ClientPattern) -> AccessPolicy {
    AccessPolicy(rules: [AccessPolicy.Rule(client, profiles: shop, Allowance(methods: ["getSession"]))])
  }

  private static func isServed(_ client: TestClient) -> Bool {
    client.askBare(token).joined().contains(#""result""#)
  }

  @Test func `a rule for a unit or a label is for its processes, and a reload reaches those that are connected`()
    async throws
  {
    try await OwnThread.run {
      let harness = try Self.harness()
      let backup = try harness.connect(peer: PeerProcess(unit: "backup.service", label: nil))
      let editor = try harness.connect(peer: PeerProcess(unit: "user/backup.service", label: "snap.editor.editor"))
      let other = try harness.connect()
      for (pattern, served) in [
        (nil, [true, true, true]), (ClientPattern(unit: NamePattern("backup.service")), [true, false, false]),
        (ClientPattern(label: NamePattern("snap.*")), [false, true, false]),
        (ClientPattern(unit: NamePattern("user/*"), label: NamePattern("snap.*")), [false, true, false]),
        (ClientPattern(unit: NamePattern("*"), label: NamePattern("snap.*")), [false, false, false]),
        (ClientPattern(), [true, true, true]),
      ] as [(ClientPattern?, [Bool])] {
        harness.set(pattern.map(Self.policy) ?? AccessPolicy())
        #expect([backup, editor, other].map(Self.isServed) == served, "\(String(describing: pattern))")
      }
      // So do those that come later.
      harness.set(Self.policy(ClientPattern(unit: NamePattern("backup.service"))))
      #expect(Self.isServed(try harness.connect(peer: PeerProcess(unit: "backup.service", label: "x"))))
      #expect(!Self.isServed(try harness.connect(peer: PeerProcess(unit: nil, label: nil))))
    }
  }

  @Test func `a name that a client has given before rules named tools is known, and a very long one is none`()
    async throws
  {
    try await OwnThread.run {
      let harness = try Self.harness()
      let long = String(repeating: "a", count: 257)
      let clients = try ["git", long].map { name in
        let client = try harness.connect()
        _ = client.askBare(LoginStage.line("initialize", #"{"client":{"name":"\#(name)"}}"#))
        return client
      }
      harness.set(Self.policy(ClientPattern(tool: "git")))
      #expect(clients.map(Self.isServed) == [true, false])
      harness.set(Self.policy(ClientPattern(tool: long)))
      #expect(clients.map(Self.isServed) == [false, false])
    }
  }

  @Test func `many clients are told in parts, each once and the oldest first`() async throws {
    try await OwnThread.run {
      let harness = try Self.harness()
      let owner = try harness.connect()
      owner.prove()
      let others = try (0..<120).map { _ in try harness.connect() }
      var (told, counts): ([Int], [Int]) = ([], [])
      repeat {
        let params = told.last.map { #"{"after":\#($0)}"# } ?? "{}"
        let answer = owner.askBare(LoginStage.line("listClients", params)).joined()
        let result = try JSONDocument(parsing: Array(answer.utf8)).root.required("result")
        let page = try result.required("clients").elements().map { try $0.required("connection").integer() }
        told += page.map { Int($0) }
        counts.append(page.count)
        #expect(try result.required("omitted").integer() == 121 - told.count)
      } while told.count < 121 && counts.last != 0
      #expect(counts == [50, 50, 21] && told == told.sorted() && Set(told).count == others.count + 1)
    }
  }

  @Test func `administrators are told who is there, and what decides for each`() async throws {
    try await OwnThread.run {
      let harness = try Self.harness()
      let policy = AccessPolicy(
        rules: [.init(ClientPattern(unit: NamePattern("backup.*")), profiles: Self.shop, Allowance(mayHold: false))],
        sockets: ["ci": .init(profiles: Self.shop, Allowance(methods: ["getSession"]))])
      harness.set(policy)
      let client = try harness.connect(peer: PeerProcess(unit: "backup.service", label: nil))
      let limited = try harness.connect(as: .limited("ci"))
      _ = client.askBare(LoginStage.line("initialize", #"{"client":{"name":"tar"}}"#))
      let owner = try harness.connect()
      for method in ["listClients", "explainAccess"] {
        for other in [client, limited] {
          #expect(other.askBare(LoginStage.line(method, "{}")).joined().contains("accessDenied"))
        }
      }
      owner.prove()
      let list = owner.askBare(LoginStage.line("listClients", "{}")).joined()
      for part in [
        #""entrance":"pair","pid":\#(client.process),"unit":"backup.service","tool":"tar","connectedAt""#,
        #""administrative":false,"profiles":1"#, #""entrance":"limited","socket":"ci""#,
        #""administrative":true,"profiles":3"#, #""omitted":0"#,
      ] { #expect(list.contains(part), "\(part): \(list)") }
      for (params, expected) in [
        (
          #"{"pid":\#(client.process),"profile":"shop"}"#,
          #""unit":"backup.service","tool":"tar"},"profiles":[{"profile":"shop","reason":"rule","rule":{"index":0,"unit":"backup.*","profiles":["shop"]},"exists":true,"may":"use"}]"#
        ),
        (#"{"pid":\#(client.process),"profile":"work"}"#, #""reason":"noRule","exists":false}]"#),
        (
          #"{"unit":"backup.timer","profile":"shop","method":"getAccessToken"}"#,
          #""exists":true,"may":"use","allowed":false"#
        ),
        (#"{"unit":"backup.timer","profile":"shop","method":"getSession"}"#, #""allowed":true"#),
        (#"{"unit":"user/backup.service","profile":"shop"}"#, #""reason":"noRule""#),
        (#"{"socket":"ci","profile":"work"}"#, #""reason":"outsideSocket""#),
        (#"{"socket":"ci","profile":"shop"}"#, #""reason":"noRule""#), ("{}", #""profile":"work""#),
        (#"{"socket":"none"}"#, #""pointer":"/socket""#), (#"{"method":"lock"}"#, #""pointer":"/method""#),
        (#"{"pid":0}"#, #""pointer":"/pid""#), (#"{"uid":4294967296}"#, #""pointer":"/uid""#),
        (#"{"profile":"nope"}"#, "unknownProfile"),
      ] {
        let answer = owner.askBare(LoginStage.line("explainAccess", params)).joined()
        #expect(answer.contains(expected), "\(params): \(answer)")
      }
      harness.set(AccessPolicy(sockets: policy.sockets))
      for (params, expected) in [
        (
          #"{"socket":"ci"}"#,
          #""profile":"shop","reason":"socket","exists":true,"methods":["getSession"],"may":"hold""#
        ),
        ("{}", #""reason":"unlimited","exists":true,"may":"hold""#),
      ] {
        let answer = owner.askBare(LoginStage.line("explainAccess", params)).joined()
        #expect(answer.contains(expected), "\(params): \(answer)")
      }
    }
  }
}
