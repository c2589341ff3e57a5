import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Rules and limited sockets, as tables of clients and what each gets.
@Suite(.standardTimeLimit) struct AccessPolicyTests {
  private static func names(_ names: String...) -> [ProfileName] { names.compactMap(ProfileName.init) }

  private static let profiles = names("default", "shop", "work")
  private static let owner = AccessClient(socket: nil, user: 1000, isOwner: true, tool: nil)

  private static func client(
    _ socket: String? = nil, user: UInt32 = 1000, unit: String? = nil, label: String? = nil, tool: String? = nil
  ) -> AccessClient {
    AccessClient(socket: socket, user: user, isOwner: user == 1000, unit: unit, label: label, tool: tool)
  }

  private static func rule(
    _ client: ClientPattern = ClientPattern(), _ profiles: [ProfileName]? = nil, _ allowance: Allowance = Allowance()
  ) -> AccessPolicy.Rule {
    AccessPolicy.Rule(client, profiles: profiles, allowance)
  }

  /// The profiles that exist for a client.
  private static func visible(_ policy: AccessPolicy, _ client: AccessClient) -> [String] {
    var table = AccessTable(policy, profiles: profiles)
    let permissions = table.permissions(of: client)
    return profiles.filter(permissions.visible.includes).map(\.description)
  }

  private static let ceilings = ["ci": AccessPolicy.Ceiling(profiles: names("shop", "work"), Allowance())]

  @Test func `without rules and sockets nobody is limited, and nothing is made`() {
    var table = AccessTable(AccessPolicy(), profiles: Self.profiles)
    #expect(table.permissions(of: Self.owner) === Permissions.all)
    var limiting = AccessTable(AccessPolicy(sockets: Self.ceilings), profiles: Self.profiles)
    #expect(limiting.permissions(of: Self.owner) === Permissions.all)
  }

  @Test(arguments: [
    // The client, and what exists for it: without rules, with a rule for everything, and with one for the socket.
    (client(), ["default", "shop", "work"], ["default", "shop", "work"], []),
    (client("ci"), ["shop", "work"], [], ["work"]),
    (client("ci", user: 1005), ["shop", "work"], [], ["work"]),
    (client("gone"), [], [], []),
    (client(tool: "git"), ["default", "shop", "work"], ["default", "shop", "work"], []),
  ]) func `a socket is a ceiling, and a rule without a socket is for the owner's own one`(
    _ client: AccessClient, _ bare: [String], _ forAll: [String], _ forSocket: [String]
  ) {
    #expect(Self.visible(AccessPolicy(sockets: Self.ceilings), client) == bare)
    #expect(Self.visible(AccessPolicy(rules: [Self.rule()], sockets: Self.ceilings), client) == forAll)
    let only = Self.rule(ClientPattern(socket: "ci"), Self.names("default", "work"))
    #expect(Self.visible(AccessPolicy(rules: [only], sockets: Self.ceilings), client) == forSocket)
  }

  @Test func `rules name users, by whatever socket they come, and tools`() {
    let rules = [
      Self.rule(ClientPattern(users: [1005...1005, 100_000...165_535]), Self.names("shop")),
      Self.rule(ClientPattern(tool: "git"), Self.names("work")),
      Self.rule(ClientPattern(socket: "ci", tool: "make"), Self.names("work")),
    ]
    let policy = AccessPolicy(rules: rules, sockets: Self.ceilings)
    for (client, expected) in [
      (Self.client("ci", user: 1005), ["shop"]), (Self.client("ci", user: 165_535), ["shop"]),
      (Self.client("ci", user: 165_536), []), (Self.client(), []), (Self.client(tool: "git"), ["work"]),
      (Self.client("ci", tool: "git"), []), (Self.client("ci", tool: "make"), ["work"]),
      (Self.client(tool: "Git"), []),
    ] {
      #expect(Self.visible(policy, client) == expected, "\(client)")
    }
  }

  @Test(
    arguments: [
      // A pattern, a unit, and whether a rule with the pattern is for a client of the unit.
      ("backup.service", "backup.service", true), ("backup.service", "backup.service.d", false),
      ("backup.service", "Backup.service", false), ("backup.service", nil, false), ("*", nil, false),
      ("backup-*.service", "backup-1.service", true), ("backup-*.service", "backup-.service", true),
      // The user's programs can make a unit of any name: it is none of the system's, whatever the pattern.
      ("backup.service", "user/backup.service", false), ("*", "user/backup.service", false),
      ("*.service", "user/backup.service", false), ("*backup.service", "user/backup.service", false),
      ("user/*", "backup.service", false), ("user/*", "user/backup.service", true),
      ("user/app-*.scope", "user/app-editor-1.scope", true), ("*", "session-2.scope", true),
    ] as [(String, String?, Bool)])
  func `a rule names units, of the system or of a user's manager`(
    _ pattern: String, _ unit: String?, _ isMatch: Bool
  ) {
    let rule = Self.rule(ClientPattern(unit: NamePattern(pattern)), Self.names("shop"))
    #expect(Self.visible(AccessPolicy(rules: [rule]), Self.client(unit: unit)) == (isMatch ? ["shop"] : []))
  }

  @Test func `a rule for a unit or a label is for the owner's own socket, unless it names another way`() {
    for pattern in [
      ClientPattern(unit: NamePattern("backup.service")), ClientPattern(label: NamePattern("snap.editor.*")),
    ] {
      let policy = AccessPolicy(rules: [Self.rule(pattern)], sockets: Self.ceilings)
      let unit = "backup.service"
      let label = "snap.editor.editor"
      #expect(!Self.visible(policy, Self.client(unit: unit, label: label)).isEmpty)
      #expect(Self.visible(policy, Self.client("ci", unit: unit, label: label)).isEmpty)
      #expect(Self.visible(policy, Self.client(user: 0, unit: unit, label: label)).isEmpty)
      #expect(Self.visible(policy, Self.client(unit: "user/\(unit)", label: "snap.editor")).isEmpty)
      var other = pattern
      other.socket = "ci"
      let wider = AccessPolicy(rules: [Self.rule(other)], sockets: Self.ceilings)
      #expect(Self.visible(wider, Self.client("ci", user: 1005, unit: unit, label: label)) == ["shop", "work"])
      #expect(Self.visible(wider, Self.client(unit: unit, label: label)).isEmpty)
    }
  }

  @Test(arguments: [
    ("", "", true), ("", "a", false), ("*", "", true), ("*", "anything", true), ("a*", "a", true), ("a*", "b", false),
    ("*a", "ba", true), ("*a", "ab", false), ("a*b*c", "a1b2c", true), ("a*b*c", "abcbc", true),
    ("a*b*c", "acb", false),
    ("**", "x", true), ("a**b", "ab", true), ("?", "a", false), ("[a]", "a", false), ("é*", "éa", true),
    ("*.service", ".service", true),
  ]) func `a star is any characters, and nothing else is special`(_ pattern: String, _ name: String, _ isMatch: Bool) {
    #expect(NamePattern(pattern).matches(name) == isMatch)
  }

  @Test func `no pattern takes long`() {
    let pattern = NamePattern(String(repeating: "a*", count: 128) + "b")
    #expect(!pattern.matches(String(repeating: "a", count: 4096)))
  }

  @Test func `clients are told apart by what rules name alone, and the decision is the one that holds`() {
    let byUnit = AccessPolicy(rules: [
      Self.rule(ClientPattern(unit: NamePattern("a.service")), Self.names("shop")),
      Self.rule(ClientPattern(tool: "git"), Self.names("work")),
    ])
    var table = AccessTable(byUnit, profiles: Self.profiles)
    #expect(table.dependsOnProcess && table.asked.unit && !table.asked.label && table.asked.tool)
    let (one, other) = (Self.client(unit: "b.service", label: "x"), Self.client(unit: "b.service", label: "y"))
    #expect(table.permissions(of: one) === table.permissions(of: other))
    #expect(table.permissions(of: one) !== table.permissions(of: Self.client(unit: "a.service")))
    let git = Self.client(unit: "a.service", tool: "git")
    let decisions = table.decisions(for: git, Self.profiles)
    #expect(decisions.map(\.reason) == [.noRule, .rule(0), .rule(1)])
    let permissions = table.permissions(of: git)
    #expect(decisions.map { $0.allowance != nil } == Self.profiles.map(permissions.visible.includes))
    let bySocket = AccessTable(AccessPolicy(sockets: Self.ceilings), profiles: Self.profiles)
    #expect(!bySocket.dependsOnProcess)
    #expect(
      bySocket.decisions(for: Self.client("ci"), Self.profiles).map(\.reason) == [.outsideSocket, .socket, .socket])
    #expect(bySocket.decisions(for: git, Self.names("shop")).map(\.reason) == [.unlimited])
  }

  @Test func `the first rule that matches decides, and no later one adds to it`() {
    let first = Self.rule(ClientPattern(), Self.names("shop"), Allowance(methods: [GetSession.name]))
    let policy = AccessPolicy(rules: [first, Self.rule()])
    var table = AccessTable(policy, profiles: Self.profiles)
    let permissions = table.permissions(of: Self.owner)
    #expect(permissions.allowances?[Self.profiles[1]]?.allows(GetAccessToken.name) == false)
    #expect(permissions.allowances?[Self.profiles[2]]?.allows(GetAccessToken.name) == true)
    #expect(!permissions.open.includes(Self.profiles[1]) && permissions.open.includes(Self.profiles[2]))
  }

  @Test func `the lists of a socket and of a rule hold together`() {
    let ceiling = Allowance(methods: [GetAccessToken.name, GetSession.name], scopes: ["a", "b"])
    let rule = Allowance(
      methods: [GetAccessToken.name, Login.name], scopes: ["b", "c"], audiences: ["x"], mayHold: false)
    let both = ceiling.intersection(rule)
    #expect(
      both == Allowance(methods: [GetAccessToken.name], scopes: ["b"], audiences: ["x"], mayHold: false))
    #expect(Allowance().intersection(rule) == rule && rule.intersection(Allowance()) == rule)
    #expect(both.allows(ReportRejected.name) && both.allows(Ping.name) && !both.allows(GetSession.name))
  }

  @Test func `clients that are alike share what they have, and names of tools are no way to fill the memory`() {
    var table = AccessTable(AccessPolicy(rules: [Self.rule()]), profiles: Self.profiles)
    #expect(table.permissions(of: Self.client(tool: "a")) === table.permissions(of: Self.client(tool: "b")))
    var byTool = AccessTable(
      AccessPolicy(rules: [Self.rule(ClientPattern(tool: "a"))]), profiles: Self.profiles)
    let first = byTool.permissions(of: Self.client(tool: "a"))
    #expect(first === byTool.permissions(of: Self.client(tool: "a")))
    for number in 0..<5000 { _ = byTool.permissions(of: Self.client(tool: "\(number)")) }
    let again = byTool.permissions(of: Self.client(tool: "a")).visible
    #expect(Self.profiles.allSatisfy { again.includes($0) && first.visible.includes($0) })
  }
}
