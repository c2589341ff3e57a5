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
    /// Whether the socket was opened at run time, and stands in no configuration.
    package var isOpened = false
    /// Whether consents are remembered for an ssh that forwards it.
    package var remembersForwarded = false

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

  /// The reason for what a client may do with a profile.
  package enum Decision: Equatable, Sendable {
    /// There are no rules, and no limited socket: it may do everything.
    case unlimited
    /// Its socket does not have the profile.
    case outsideSocket
    /// Its socket alone says so, since there are no rules.
    case socket
    /// This one of the rules does, within what its socket has.
    case rule(Int)
    /// No rule matches it and the profile.
    case noRule
  }

  /// The places of the rules that match a client, whatever the profile; nil where there are no rules.
  func matching(_ client: AccessClient) -> [Int]? {
    rules.map { rules in rules.indices.filter { rules[$0].client.matches(client) } }
  }

  /// Decides for a client and a profile.
  ///
  /// - Parameters:
  ///   - client: the client.
  ///   - matching: the rules that match it.
  ///   - profile: the profile.
  /// - Returns: the allowance, nil where the profile does not exist for it, and the reason.
  func decide(
    for client: AccessClient, _ matching: [Int]?, _ profile: ProfileName
  ) -> (reason: Decision, allowance: Allowance?) {
    var allowance = Allowance()
    if let socket = client.socket {
      guard let ceiling = sockets[socket], ceiling.profiles.contains(profile) else { return (.outsideSocket, nil) }
      allowance = ceiling.allowance
    }
    guard let rules, let matching else { return (client.socket == nil ? .unlimited : .socket, allowance) }
    guard let index = matching.first(where: { rules[$0].profiles?.contains(profile) ?? true }) else {
      return (.noRule, nil)
    }
    return (.rule(index), allowance.intersection(rules[index].allowance))
  }
}

/// The permissions of clients by a policy, each made once.
package struct AccessTable {
  /// The policy.
  package private(set) var policy: AccessPolicy
  /// The configured profiles.
  package let profiles: [ProfileName]
  /// The members beyond socket and user by which rules know clients.
  package let asked: (unit: Bool, label: Bool, tool: Bool)
  private var known: [AccessClient: Permissions] = [:]
  /// The most different clients that are remembered: there may be any number of names of tools and of scopes.
  private static let mostKnown = 1024

  /// The table for the configured profiles.
  package init(_ policy: AccessPolicy = AccessPolicy(), profiles: [ProfileName] = []) {
    (self.policy, self.profiles) = (policy, profiles)
    let clients = policy.rules?.map(\.client) ?? []
    asked = (
      clients.contains { $0.unit != nil }, clients.contains { $0.label != nil }, clients.contains { $0.tool != nil }
    )
  }

  /// Whether the process of a client may change its permissions, beyond its user.
  package var dependsOnProcess: Bool { asked.unit || asked.label }

  /// The allowance of a client for each of some profiles, and the reason; nil where the profile does not exist for it.
  package func decisions(
    for client: AccessClient, _ profiles: [ProfileName]
  ) -> [(reason: AccessPolicy.Decision, allowance: Allowance?)] {
    let matching = policy.matching(client)
    return profiles.map { policy.decide(for: client, matching, $0) }
  }

  /// Changes the ceiling of one limited socket, and nothing for other clients; nil for a socket that is closed.
  package mutating func set(_ ceiling: AccessPolicy.Ceiling?, of socket: String) {
    policy.sockets[socket] = ceiling
    known = known.filter { $0.key.socket != socket }
  }

  /// The permissions of a client.
  package mutating func permissions(of client: AccessClient) -> Permissions {
    guard client.socket != nil || policy.rules != nil else { return .all }
    var client = client
    if !asked.unit { client.unit = nil }
    if !asked.label { client.label = nil }
    if !asked.tool { client.tool = nil }
    if let permissions = known[client] { return permissions }
    if known.count >= Self.mostKnown { known = [:] }
    let permissions = make(for: client)
    known[client] = permissions
    return permissions
  }

  private func make(for client: AccessClient) -> Permissions {
    var allowances: [ProfileName: Allowance] = [:]
    for (profile, decision) in zip(profiles, decisions(for: client, profiles)) {
      allowances[profile] = decision.allowance
    }
    return Permissions(allowances, of: profiles, for: client, within: client.socket.flatMap { policy.sockets[$0] })
  }
}
