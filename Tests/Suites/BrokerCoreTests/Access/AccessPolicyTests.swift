import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Rules and limited sockets, as tables of clients and what each gets.
@Suite(.standardTimeLimit) struct AccessPolicyTests {
  private static func names(_ names: String...) -> [ProfileName] { names.compactMap(ProfileName.init) }

  private static let profiles = names("default", "shop", "work")
  private static let owner = AccessClient(socket: nil, user: 1000, isOwner: true, tool: nil)

  private static func client(_ socket: String? = nil, user: UInt32 = 1000, tool: String? = nil) -> AccessClient {
    AccessClient(socket: socket, user: user, isOwner: user == 1000, tool: tool)
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
