package import BrokerProtocol

/// The clients and the permissions of each: the sections `access` and `sockets` of the configuration.
package struct AccessPolicy: Hashable, Sendable {
  /// A rule: the first one that matches the client and the profile decides.
  package struct Rule: Hashable, Sendable {
    /// The clients.
    package var client: ClientPattern
    /// The profiles; nil for all.
    package var profiles: [ProfileName]?
    /// The methods and tokens that it allows.
    package var allowance: Allowance

    /// A rule of these members.
    package init(_ client: ClientPattern, profiles: [ProfileName]?, _ allowance: Allowance) {
      (self.client, self.profiles, self.allowance) = (client, profiles, allowance)
    }
  }

  /// The most that clients of a limited socket may have, whatever the rules say.
  package struct Ceiling: Hashable, Sendable {
    /// The profiles.
    package var profiles: [ProfileName]
    /// The methods and tokens that are allowed with them.
    package var allowance: Allowance

    /// A ceiling of these members.
    package init(profiles: [ProfileName], _ allowance: Allowance) {
      (self.profiles, self.allowance) = (profiles, allowance)
    }
  }

  /// The rules; nil where there are none, and every client of the owner may have everything.
  package var rules: [Rule]?
  /// The limited sockets, by name.
  package var sockets: [String: Ceiling]

  /// A policy; without arguments one that limits no client.
  package init(rules: [Rule]? = nil, sockets: [String: Ceiling] = [:]) {
    (self.rules, self.sockets) = (rules, sockets)
  }

  /// The allowance of a client for a profile; nil where the profile does not exist for it.
  func allowance(for client: AccessClient, _ profile: ProfileName) -> Allowance? {
    var allowance = Allowance()
    if let socket = client.socket {
      guard let ceiling = sockets[socket], ceiling.profiles.contains(profile) else { return nil }
      allowance = ceiling.allowance
    }
    guard let rules else { return allowance }
    guard let rule = rules.first(where: { $0.client.matches(client) && $0.profiles?.contains(profile) ?? true }) else {
      return nil
    }
    return allowance.intersection(rule.allowance)
  }
}

/// The clients that a rule is for; what it does not name matches every client of the owner on the main socket.
package struct ClientPattern: Hashable, Sendable {
  /// The name of a limited socket.
  package var socket: String?
  /// The numbers of users; nil for any.
  package var users: [ClosedRange<UInt32>]?
  /// The name that the client gives itself: a claim, and no boundary.
  package var tool: String?

  /// A pattern; without arguments one for every client of the owner.
  package init(socket: String? = nil, users: [ClosedRange<UInt32>]? = nil, tool: String? = nil) {
    (self.socket, self.users, self.tool) = (socket, users, tool)
  }

  /// Whether a client is one of these.
  func matches(_ client: AccessClient) -> Bool {
    if let tool, tool != client.tool { return false }
    if socket == nil, users == nil { return client.socket == nil && client.isOwner }
    return (socket ?? client.socket) == client.socket && users?.contains { $0.contains(client.user) } ?? true
  }
}

/// A client as rules know it.
package struct AccessClient: Hashable, Sendable {
  /// The name of the limited socket that it came by; nil for another way.
  package var socket: String?
  /// Its user; the owner for the process that has started the broker, or has handed a connection over.
  package var user: UInt32
  /// Whether that is the broker's own user.
  package var isOwner: Bool
  /// The name that it gives itself.
  package var tool: String?

  /// A client of these members.
  package init(socket: String?, user: UInt32, isOwner: Bool, tool: String?) {
    (self.socket, self.user, self.isOwner, self.tool) = (socket, user, isOwner, tool)
  }
}

/// The permissions of clients by a policy, each made once.
package struct AccessTable {
  /// The policy.
  package let policy: AccessPolicy
  private let profiles: [ProfileName]
  private let asksTool: Bool
  private var known: [AccessClient: Permissions] = [:]
  /// The most different clients that are remembered: names of tools are claims, of which there may be any number.
  private static let mostKnown = 1024

  /// The table for the configured profiles.
  package init(_ policy: AccessPolicy = AccessPolicy(), profiles: [ProfileName] = []) {
    (self.policy, self.profiles) = (policy, profiles)
    asksTool = policy.rules?.contains { $0.client.tool != nil } ?? false
  }

  /// Whether the name of a tool may change its permissions.
  package var dependsOnTool: Bool { asksTool }

  /// The permissions of a client.
  package mutating func permissions(of client: AccessClient) -> Permissions {
    guard client.socket != nil || policy.rules != nil else { return .all }
    var client = client
    if !asksTool { client.tool = nil }
    if let permissions = known[client] { return permissions }
    if known.count >= Self.mostKnown { known = [:] }
    let permissions = make(for: client)
    known[client] = permissions
    return permissions
  }

  private func make(for client: AccessClient) -> Permissions {
    // The rules for other clients are looked at once, not once for each profile.
    let rules = policy.rules?.filter { $0.client.matches(client) }
    let own = AccessPolicy(rules: rules, sockets: policy.sockets)
    var allowances: [ProfileName: Allowance] = [:]
    for profile in profiles { allowances[profile] = own.allowance(for: client, profile) }
    return Permissions(allowances, of: profiles, for: client)
  }
}
