import BrokerCore
import BrokerProtocol
import BrokerServer
import JSON
import LinuxSystem
import TestSupport
import Testing

/// What the audit has of grants and refusals: over the whole server, with the cache of answers.
@Suite(.standardTimeLimit) struct AuditTests {
  private static let profiles = ["default", "shop", "work"].compactMap(ProfileName.init)
  private static let shop = profiles.filter { $0.description == "shop" }
  private static let token = LoginStage.line("getAccessToken", #"{"profile":"shop"}"#)

  /// A server with an audit, and somebody logged in on every profile.
  private static func stage(_ policy: AccessPolicy, allowsIDToken: Bool = false) throws -> ServerHarness {
    let harness = try ServerHarness(
      profiles: profiles.map(\.description), allowsIDToken: allowsIDToken,
      prepare: { provider in
        provider.setTargetAnswer(.succeeds(lifetime: .seconds(900)))
        provider.setIDTokens(ScriptedProvider.IDTokens(lifetime: .seconds(3000)))
      })
    let owner = try harness.connect()
    for profile in profiles {
      let credentials = #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#
      #expect(owner.ask(LoginStage.line("login", credentials)).joined().contains("authenticated"))
    }
    owner.close()
    harness.set(policy)
    harness.setAudit(true)
    return harness
  }

  private static func rule(_ allowance: Allowance = Allowance()) -> AccessPolicy {
    AccessPolicy(rules: [AccessPolicy.Rule(ClientPattern(), profiles: shop, allowance)])
  }

  private static let socket = AccessPolicy(
    sockets: ["ci": AccessPolicy.Ceiling(profiles: shop, Allowance(methods: ["getAccessToken"], scopes: ["x"]))])

  @Test func `thousands of grants from the cache are one entry a minute, with their number`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.rule())
      let clients = try (0..<3).map { _ in try harness.connect() }
      for round in 0..<20 {
        let lines = [String](repeating: Self.token, count: 50).joined(separator: "\n")
        let answers = clients[round % 3].askBare(lines)
        #expect(answers.count == 50 && answers.allSatisfy { $0.contains("access-2") })
      }
      harness.pass(2)
      // They are alike: the owner's processes without a name.
      #expect(harness.grants.map(\.count) == [1])
      harness.pass(61)
      #expect(harness.grants.map(\.count) == [1, 999])
      let grant = try #require(harness.grants.first)
      #expect(grant.tokenID == "id-2" && grant.method == "getAccessToken" && grant.profile?.description == "shop")
      #expect(grant.client?.identity.uid == Int(ProcessIdentity.user) && grant.client?.isAdministrative == false)
      harness.pass(300)
      #expect(harness.grants.count == 2)
    }
  }

  @Test func `a request at the very end of a minute takes none of its grants into the next one`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.rule())
      let client = try harness.connect()
      let began = harness.clock.now
      for _ in 0..<50 { #expect(client.askBare(Self.token).count == 1) }
      // The clock is there, and the timer has not come yet.
      harness.clock.advance(by: .seconds(61))
      #expect(client.askBare(Self.token).count == 1)
      harness.pass(2)
      let ends = harness.grants.map { ($0.count, $0.time) }
      #expect(ends.map(\.0).prefix(2) == [1, 49], "\(ends)")
      #expect(harness.grants[1].time < began + .seconds(62))
    }
  }

  @Test func `profiles in turn are counted each for itself, and so is the token behind a refresh`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(
        AccessPolicy(rules: [AccessPolicy.Rule(ClientPattern(), profiles: nil, Allowance())]))
      let client = try harness.connect()
      for _ in 0..<100 {
        for profile in ["shop", "work", "default"] {
          let line = LoginStage.line("getAccessToken", #"{"profile":"\#(profile)"}"#)
          #expect(client.askBare(line).joined().contains("access-"))
        }
      }
      _ = client.askBare(LoginStage.line("getAccessToken", #"{"profile":"shop","forceRefresh":true}"#))
      for _ in 0..<5 { _ = client.askBare(Self.token) }
      harness.pass(62)
      let counts = Dictionary(grouping: harness.grants) { "\($0.profile?.description ?? "") \($0.tokenID ?? "")" }
        .mapValues { $0.map(\.count).reduce(0, +) }
      #expect(counts.values.sorted() == [6, 100, 100, 100], "\(counts)")
    }
  }

  @Test func `a batch, both framings and what is out of the cache count alike`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.rule())
      let client = try harness.connect()
      _ = client.askBare("[" + [String](repeating: Self.token, count: 10).joined(separator: ",") + "]")
      _ = client.askBare(Self.token + "\n" + LoginStage.line("ping") + "\n" + Self.token)
      // A notification gets no answer, and so no token.
      _ = client.askBare(#"{"jsonrpc":"2.0","method":"getAccessToken","params":{"profile":"shop"}}"#)
      let framed = try harness.connect()
      framed.send("Content-Length: \(Self.token.utf8.count)\r\n\r\n\(Self.token)")
      framed.read()
      harness.pass(62)
      #expect(harness.grants.map(\.count).reduce(0, +) == 13)
    }
  }

  @Test func `an administrative connection, a reported token and an ID token are audited, too`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.rule(), allowsIDToken: true)
      let client = try harness.connect()
      client.prove()
      _ = client.askBare(LoginStage.line("initialize", #"{"client":{"name":"shell"}}"#))
      _ = client.askBare(Self.token)
      _ = client.askBare(LoginStage.line("reportRejected", #"{"profile":"shop","tokenId":"id-2"}"#))
      let id = client.askBare(LoginStage.line("getIdToken", #"{"profile":"shop"}"#)).joined()
      #expect(id.contains("idToken"), "\(id)")
      harness.pass(2)
      let grants = harness.grants
      #expect(grants.map(\.method) == ["getAccessToken", "reportRejected", "getIdToken"])
      #expect(grants.allSatisfy { $0.client?.isAdministrative == true && $0.client?.identity.tool == "shell" })
    }
  }

  @Test func `refusals say who asked for what, whether the profile is configured or not`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.socket)
      let client = try harness.connect(as: .limited("ci"))
      for (method, params) in [
        ("getAccessToken", #"{"profile":"work"}"#), ("getAccessToken", #"{"profile":"none"}"#),
        ("getAccessToken", #"{"profile":"shop","scopes":["y"]}"#), ("getSession", #"{"profile":"shop"}"#),
        ("lock", "{}"), ("ping", "{}"), ("getAccessToken", #"{"profile":"shop","scopes":3}"#),
      ] { _ = client.askBare(LoginStage.line(method, params)) }
      // A question for a proof is no refusal.
      _ = try harness.connect().askBare(LoginStage.line("lock"))
      harness.pass(2)
      let refusals = harness.entries.filter { $0.kind == "refusal" }
      #expect(refusals.map(\.method) == ["getAccessToken", "getAccessToken", "getAccessToken", "getSession", "lock"])
      #expect(
        refusals.map(\.outcome) == ["unknownProfile", "unknownProfile", "accessDenied", "accessDenied", "accessDenied"])
      #expect(refusals.map { $0.profile?.description } == ["work", "none", "shop", "shop", nil], "\(refusals)")
      #expect(
        refusals[2].scopes == ["y"] && refusals.allSatisfy { $0.client?.identity.socket == "ci" && $0.tokenID == nil })
      #expect(harness.grants.isEmpty)
    }
  }

  @Test func `no entry has a token, and the log of the clients is not what a client can fill`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.socket)
      let client = try harness.connect(as: .limited("ci"))
      for number in 0..<3000 {
        _ = client.askBare(LoginStage.line("getAccessToken", #"{"profile":"p\#(number)"}"#))
      }
      #expect(client.askBare(Self.token).joined().contains("access-"))
      harness.pass(62)
      #expect(harness.entries.count < 25)
      #expect(harness.entries.filter { $0.kind == "refusal" }.map(\.count).reduce(0, +) == 3000)
      var writer = JSONWriter()
      harness.entries.encode(to: &writer)
      #expect(!String(decoding: writer.bytes, as: UTF8.self).contains("access-"))
    }
  }

  @Test func `a store that fails, and a vault that is locked, refuse no grant and lose no count`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.rule())
      let client = try harness.connect()
      harness.pass(2)
      harness.store.auditFailure = .failed(context: "a disk that is full")
      for _ in 0..<20 { #expect(client.askBare(Self.token).joined().contains("access-2")) }
      harness.pass(130)
      #expect(harness.grants.isEmpty)
      harness.store.auditFailure = nil
      harness.pass(60)
      #expect(harness.grants.map(\.count).reduce(0, +) == 20)
      for _ in 0..<5 { _ = client.askBare(Self.token) }
      let owner = try harness.connect()
      owner.prove()
      _ = owner.askBare(LoginStage.line("lock"))
      #expect(harness.store.isLocked)
      // Written before the keys were gone.
      #expect(harness.grants.map(\.count).reduce(0, +) == 25)
      let limited = try harness.connect(as: .limited("none"))
      _ = limited.askBare(LoginStage.line("getSession"))
      harness.pass(70)
      #expect(!harness.entries.contains { $0.kind == "refusal" })
      _ = owner.askBare(LoginStage.line("unlock"))
      harness.pass(2)
      #expect(harness.entries.contains { $0.kind == "refusal" })
    }
  }

  @Test func `the audit is read in pages, and the last word is that it ended`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.rule())
      for number in 0..<230 {
        let tool = try harness.connect()
        _ = tool.askBare(LoginStage.line("initialize", #"{"client":{"name":"tool-\#(number)"}}"#) + "\n" + Self.token)
        tool.close()
      }
      let client = try harness.connect()
      _ = client.askBare(Self.token)
      let owner = try harness.connect()
      owner.prove()
      var (numbers, after) = ([Int64](), Int64(0))
      var omitted: Int64 = 1
      while omitted > 0 {
        let line = LoginStage.line("readAudit", #"{"after":\#(after)}"#)
        let result = try JSONDocument(parsing: Array(owner.askBare(line).joined().utf8)).root.required("result")
        numbers += try result.required("entries").elements().map { try $0.required("number").integer() }
        (after, omitted) = (try result.required("through").integer(), try result.required("omitted").integer())
      }
      // What was noted a moment ago is there.
      #expect(numbers == (1...Int64(harness.entries.count)).map(\.self) && numbers.count == 232)
      #expect(harness.entries.last?.tokenID == "id-2")
      let none = owner.askBare(LoginStage.line("readAudit", #"{"profile":"work"}"#)).joined()
      #expect(none.contains(#""kind":"start""#) && !none.contains(#""kind":"grant""#) && none.contains(#""on":true"#))
      let bad = owner.askBare(LoginStage.line("readAudit", #"{"verify":true,"head":"12.abc"}"#)).joined()
      #expect(bad.contains("invalidParams") && bad.contains(#""pointer":"/head""#), "\(bad)")
      harness.setAudit(false)
      harness.pass(1)
      #expect(harness.entries.last?.kind == "stop")
      _ = client.askBare(Self.token)
      harness.pass(70)
      #expect(harness.entries.last?.kind == "stop")
    }
  }

  @Test func `a client that is killed with its broker leaves a gap for the next one`() async throws {
    try await OwnThread.run {
      let store = InMemoryStore()
      let first = try ServerHarness(profiles: Self.profiles.map(\.description), store: store)
      first.setAudit(true)
      first.pass(2)
      let next = try ServerHarness(profiles: Self.profiles.map(\.description), store: store)
      next.setAudit(true)
      next.pass(2)
      #expect(store.audit.map(\.kind) == ["start", "gap", "start"] && store.audit[1].outcome == "interrupted")
    }
  }
}

extension ServerHarness {
  /// Turns the audit on or off.
  fileprivate func setAudit(_ isOn: Bool) {
    let server = self.server
    server.assumeIsolated { $0.setAudit(isOn) }
    settle()
  }

  /// Lets seconds pass, each with all that is due.
  fileprivate func pass(_ seconds: Int) {
    for _ in 0..<seconds {
      clock.advance(by: .seconds(1))
      settle()
    }
  }

  fileprivate var entries: [AuditEntry] { store.audit }
  fileprivate var grants: [AuditEntry] { store.audit.filter { $0.kind == "grant" } }
}
