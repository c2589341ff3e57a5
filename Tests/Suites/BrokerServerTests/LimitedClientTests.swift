import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// What a client gets whom a socket or a rule limits: over the whole server.
@Suite(.standardTimeLimit) struct LimitedClientTests {
  private static let profiles = ["default", "shop", "work"].compactMap(ProfileName.init)
  private static var shop: [ProfileName] { profiles.filter { $0.description == "shop" } }

  private static func line(_ method: String, _ params: String = "{}", _ id: Int = 9) -> String {
    LoginStage.line(method, params, id)
  }

  /// A server with somebody logged in on every profile.
  private static func stage(_ policy: AccessPolicy) throws -> ServerHarness {
    let harness = try ServerHarness(
      profiles: profiles.map(\.description), prepare: { $0.setTargetAnswer(.succeeds(lifetime: .seconds(900))) })
    let owner = try harness.connect()
    for profile in profiles {
      let credentials = #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#
      #expect(kind(owner.ask(line("login", credentials))) == "result")
    }
    owner.close()
    harness.set(policy)
    return harness
  }

  private static func socket(_ allowance: Allowance) -> AccessPolicy {
    AccessPolicy(sockets: ["ci": AccessPolicy.Ceiling(profiles: shop, allowance)])
  }

  private static func kind(_ lines: [String]) -> String {
    let answer = lines.first ?? "nothing"
    guard let kind = answer.split(separator: #""kind":""#, maxSplits: 1).dropFirst().first else {
      return answer.contains(#""result""#) ? "result" : answer
    }
    return String(kind.prefix { $0 != "\"" })
  }

  @Test func `a limited socket gives its profiles and methods, and nothing that proves more`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.socket(Allowance(methods: ["getAccessToken"])))
      let client = try harness.connect(as: .limited("ci"))
      for (method, params, expected) in [
        ("getAccessToken", "{}", "result"), ("getAccessToken", #"{"profile":"shop"}"#, "result"),
        ("getAccessToken", #"{"profile":"work"}"#, "unknownProfile"),
        ("getAccessToken", #"{"profile":"none"}"#, "unknownProfile"),
        ("reportRejected", #"{"profile":"shop","tokenId":"id-9"}"#, "result"),
        ("getSession", #"{"profile":"shop"}"#, "accessDenied"), ("subscribe", "{}", "accessDenied"),
        ("listSessions", "{}", "accessDenied"), ("login", #"{"profile":"shop"}"#, "accessDenied"),
        ("getIdToken", #"{"profile":"shop"}"#, "accessDenied"), ("lock", "{}", "accessDenied"),
        ("stopBroker", "{}", "accessDenied"), ("prove", "{}", "accessDenied"),
        ("prove", #"{"name":"proof-00000000000000000000000000000000"}"#, "accessDenied"), ("ping", "{}", "result"),
        ("noSuchMethod", "{}", "methodNotFound"),
        ("openSocket", #"{"profiles":["shop"],"lifetimeSeconds":9}"#, "accessDenied"),
      ] {
        let answer = client.askBare(Self.line(method, params))
        #expect(Self.kind(answer) == expected, "\(method) \(params): \(answer)")
        #expect(!answer.joined().contains("proof\":"), "\(method)")
      }
      let introduction = client.askBare(Self.line("initialize")).joined()
      #expect(introduction.contains(#""shop""#), "\(introduction)")
      #expect(!introduction.contains(#""work""#))
    }
  }

  @Test func `scopes and audiences are those of the rule, and the cache gives no others`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(
        Self.socket(Allowance(scopes: ["x"], audiences: ["urn:a"])))
      let (owner, client) = (try harness.connect(), try harness.connect(as: .limited("ci")))
      // It is in the cache by now.
      let own = owner.askBare(Self.line("getAccessToken", #"{"profile":"shop"}"#)).joined()
      #expect(own.contains("access-2"))
      let given = client.askBare(Self.line("getAccessToken", #"{"profile":"shop"}"#)).joined()
      #expect(given.contains(#""scopes":["x"],"audience":"urn:a""#) && !given.contains("access-2"), "\(given)")
      for (params, pointer) in [
        (#"{"scopes":["x","y"]}"#, "/scopes"), (#"{"audience":"urn:b"}"#, "/audience"),
        (#"{"scopes":["y"],"audience":"urn:a"}"#, "/scopes"),
      ] {
        let answer = client.askBare(Self.line("getAccessToken", params))
        #expect(Self.kind(answer) == "accessDenied", "\(answer)")
        #expect(answer.joined().contains(#""pointer":"\#(pointer)""#), "\(answer)")
      }
      // The token of others, reported by its name, is not replaced by one of theirs.
      let report = client.askBare(Self.line("reportRejected", #"{"profile":"shop","tokenId":"id-2"}"#)).joined()
      #expect(report.contains(#""scopes":["x"],"audience":"urn:a""#), "\(report)")
      #expect(owner.askBare(Self.line("getAccessToken", #"{"profile":"shop"}"#)).joined() == own)
    }
  }

  @Test func `who may only use a profile holds no token of it`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.socket(Allowance(mayHold: false)))
      let (owner, client) = (try harness.connect(), try harness.connect(as: .limited("ci")))
      _ = owner.askBare(Self.line("getAccessToken", #"{"profile":"shop"}"#))
      for method in ["getAccessToken", "getIdToken"] {
        #expect(Self.kind(client.askBare(Self.line(method))) == "accessDenied")
      }
      let report = client.askBare(Self.line("reportRejected", #"{"tokenId":"id-2"}"#)).joined()
      #expect(report.contains(#""result":{}"#), "\(report)")
      // It was acted on.
      #expect(!owner.askBare(Self.line("getAccessToken", #"{"profile":"shop"}"#)).joined().contains("access-2"))
      #expect(Self.kind(client.askBare(Self.line("getSession"))) == "result")
    }
  }

  @Test func `a refusal says what the owner can change: the socket, or the rules`() async throws {
    try await OwnThread.run {
      let narrow = Allowance(methods: ["getAccessToken"], scopes: ["x"], audiences: ["urn:a"])
      let rule = AccessPolicy.Rule(ClientPattern(socket: "ci"), profiles: Self.shop, narrow)
      let mayUse = AccessPolicy.Ceiling(profiles: Self.shop, Allowance(mayHold: false))
      var opened = Self.socket(narrow)
      opened.sockets["ci"]?.isOpened = true
      for (policy, method, params, advice) in [
        (Self.socket(narrow), "getSession", "{}", "add it to sockets.ci.methods."),
        (Self.socket(narrow), "getAccessToken", #"{"scopes":["y"]}"#, "add them to sockets.ci.scopes."),
        (Self.socket(narrow), "getAccessToken", #"{"audience":"urn:b"}"#, "add it to sockets.ci.audiences."),
        (AccessPolicy(sockets: ["ci": mayUse]), "getAccessToken", "{}", #"allow \"hold\" by sockets.ci.may."#),
        (opened, "getSession", "{}", "ask its owner for a socket that gives it."),
        (
          AccessPolicy(rules: [rule], sockets: Self.socket(Allowance()).sockets), "getSession", "{}",
          "add it to access.rules."
        ),
        (
          AccessPolicy(rules: [rule], sockets: Self.socket(Allowance()).sockets), "getAccessToken",
          #"{"audience":"urn:b"}"#, "add it to access.rules."
        ),
      ] {
        let client = try Self.stage(policy).connect(as: .limited("ci"))
        let answer = client.askBare(Self.line(method, params)).joined()
        #expect(answer.contains(advice) && Self.kind([answer]) == "accessDenied", "\(answer)")
      }
    }
  }

  @Test func `a tool is what the first initialize says`() async throws {
    try await OwnThread.run {
      let rule = AccessPolicy.Rule(ClientPattern(tool: "git"), profiles: Self.shop, Allowance())
      let harness = try Self.stage(AccessPolicy(rules: [rule]))
      let client = try harness.connect()
      let ask = Self.line("getAccessToken", #"{"profile":"shop"}"#)
      #expect(Self.kind(client.askBare(ask)) == "accessDenied")
      _ = client.askBare(Self.line("initialize", #"{"client":{"name":"curl"}}"#))
      _ = client.askBare(Self.line("initialize", #"{"client":{"name":"git"}}"#))
      #expect(Self.kind(client.askBare(ask)) != "result")
      let other = try harness.connect()
      let introduction = other.askBare(Self.line("initialize", #"{"client":{"name":"git"}}"#)).joined()
      #expect(introduction.contains(#""shop""#) && !introduction.contains(#""work""#))
      #expect(Self.kind(other.askBare(ask)) == "result")
    }
  }

  @Test func `an administrative connection sees everything, and rules hold for its tokens`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(
        AccessPolicy(rules: [AccessPolicy.Rule(ClientPattern(), profiles: Self.shop, Allowance())]))
      let client = try harness.connect()
      client.prove()
      for (method, params, expected) in [
        ("getAccessToken", #"{"profile":"shop"}"#, "result"),
        ("getAccessToken", #"{"profile":"work"}"#, "accessDenied"),
        ("getIdToken", #"{"profile":"work"}"#, "accessDenied"), ("getSession", #"{"profile":"work"}"#, "result"),
        ("reportRejected", #"{"profile":"work","tokenId":"id-3"}"#, "accessDenied"), ("checkVault", "{}", "result"),
      ] {
        let answer = client.askBare(Self.line(method, params))
        #expect(Self.kind(answer) == expected, "\(method) \(params): \(answer)")
      }
    }
  }

  @Test func `other rules hold at once, for what waits and for subscriptions too`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(AccessPolicy())
      let (client, owner) = (try harness.connect(), try harness.connect())
      _ = client.askBare(Self.line("subscribe"))
      _ = owner.askBare(Self.line("logout", #"{"profile":"work"}"#))
      #expect(client.lines().contains { $0.contains(#""profile":"work""#) })
      #expect(client.askBare(Self.line("getAccessToken", #"{"profile":"work","waitForLogin":true}"#, 7)).isEmpty)
      harness.set(AccessPolicy(rules: [AccessPolicy.Rule(ClientPattern(), profiles: Self.shop, Allowance())]))
      let refused = client.lines()
      #expect(
        refused.count == 1 && refused[0].contains(#""id":7"#) && refused[0].contains("unknownProfile"), "\(refused)")
      #expect(Self.kind(client.askBare(Self.line("getAccessToken", #"{"profile":"work"}"#))) == "unknownProfile")
      owner.prove()
      _ = owner.askBare(Self.line("login", #"{"profile":"work","email":"a@example.test","password":"right"}"#))
      _ = owner.askBare(Self.line("logout", #"{"profile":"shop"}"#))
      let told = client.lines()
      #expect(
        told.allSatisfy { !$0.contains("work") } && told.contains { $0.contains(#""profile":"shop""#) }, "\(told)")
      // What waits for a token of any scope gets none of fewer.
      #expect(client.askBare(Self.line("getAccessToken", #"{"profile":"shop","waitForLogin":true}"#, 8)).isEmpty)
      let narrow = AccessPolicy.Rule(ClientPattern(), profiles: Self.shop, Allowance(scopes: ["x"]))
      harness.set(AccessPolicy(rules: [narrow]))
      let narrowed = client.lines()
      #expect(
        narrowed.count == 1 && narrowed[0].contains(#""id":8"#) && narrowed[0].contains("accessDenied"), "\(narrowed)")
      harness.set(AccessPolicy())
      _ = owner.askBare(Self.line("logout", #"{"profile":"work"}"#))
      #expect(client.lines().contains { $0.contains(#""profile":"work""#) })
    }
  }

  @Test func `a socket that is closed takes its clients with it`() async throws {
    try await OwnThread.run {
      let harness = try Self.stage(Self.socket(Allowance()))
      let client = try harness.connect(as: .limited("ci"))
      #expect(Self.kind(client.askBare(Self.line("getAccessToken"))) == "result")
      harness.set(AccessPolicy())
      #expect(Self.kind(client.askBare(Self.line("getAccessToken"))) != "result")
      #expect(Self.kind(client.askBare(Self.line("initialize"))) == "result")
    }
  }

  @Test func `the names that a rule can have are the methods that need no proof`() {
    let open = Methods.all.map { $0.name }.filter { name in
      !["initialize", "ping", "rpc.discover", "shutdown", "unsubscribe", "prove"].contains(name)
        && !Methods.needingProof.contains(name)
    }
    #expect(Set(open) == Set(Allowance.names))
  }
}

extension ServerHarness {
  /// Applies a policy for the configured profiles.
  func set(_ policy: AccessPolicy) {
    let server = self.server
    let table = AccessTable(policy, profiles: ["default", "shop", "work"].compactMap(ProfileName.init))
    server.assumeIsolated { $0.setAccess(table) }
    settle()
  }
}
