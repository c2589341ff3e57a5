import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem
import Transport

/// The questions of administrators about clients: which are here, and what one may do.
extension BrokerServer {
  /// The most connections of one answer: each costs a tenth of a millisecond of system calls, for which all others wait.
  private static let mostListed = 50

  /// The open connections behind one, the oldest first.
  func clients(after last: Int?) -> ListClients.Result {
    let accounts = AccountFiles.read()
    let all = connections.all.filter { $0.id.number > last.map { UInt64(clamping: $0) } ?? 0 }
      .sorted { $0.id.number < $1.id.number }
    let listed = all.prefix(Self.mostListed).map { described($0, accounts) }
    return ListClients.Result(clients: listed, omitted: all.count - listed.count)
  }

  private func described(_ connection: Connection, _ accounts: AccountFiles?) -> ListClients.ClientConnection {
    identifyPeer(of: connection)
    let (principal, peer) = (connection.principal, connection.peer)
    let process = principal.process.flatMap { $0 > 0 ? $0 : nil }
    let known = process.flatMap { PeerProcess.mayBeSame($0, acceptedAt: connection.acceptedAt) ? $0 : nil }
    let age = (BootClock.now - connection.acceptedAt).wholeNanoseconds / 1_000_000
    let socket = connection.entrance.limitedSocket
    let tool = connection.tool.flatMap { $0.isEmpty ? nil : $0 }
    return ListClients.ClientConnection(
      connection: Int(clamping: connection.id.number), entrance: socket == nil ? connection.entrance.name : "limited",
      socket: socket, uid: principal.user.map { Int($0) },
      user: principal.user.flatMap { accounts?.name(ofUser: $0) }, pid: process.map { Int($0) },
      command: known.flatMap(ProcessIdentity.program(of:)), unit: peer?.unit, label: peer?.label, tool: tool,
      connectedAt: Timestamp(milliseconds: WallClock.milliseconds - age), isAdministrative: principal.isAdministrative,
      profiles: access.profiles.count { principal.shown.includes($0) })
  }

  /// Says what a client may do, and why.
  func explain(_ params: ExplainAccess.Params, _ request: Request) throws(BrokerError) -> ExplainAccess.Result {
    if let method = params.method, !Allowance.names.contains(method) {
      throw BrokerError(JSONMismatch(at: JSONPointer.root.member("method"), expected: "a method that a rule can allow"))
    }
    var profiles = access.profiles
    if let profile = params.profile {
      let principal = request.principal
      _ = try asked { broker throws(BrokerError) in try broker.session(profile, for: principal) }
      profiles = [profile]
    }
    let client = try client(meantBy: params, request.connection)
    let isAdmitted = admits(client)
    let decisions = access.decisions(for: client, profiles)
    return ExplainAccess.Result(
      client: ClientIdentity(client),
      profiles: zip(profiles, decisions).map { profile, decision in
        isAdmitted
          ? explanation(decision.reason, decision.allowance, profile, params.method)
          : ExplainAccess.AccessDecision(
            profile: profile, reason: "notAdmitted", exists: false, allowed: params.method.map { _ in false })
      })
  }

  private func explanation(
    _ reason: AccessPolicy.Decision, _ allowance: Allowance?, _ profile: ProfileName, _ method: String?
  ) -> ExplainAccess.AccessDecision {
    var decision = ExplainAccess.AccessDecision(profile: profile, reason: reason.word, exists: allowance != nil)
    if case .rule(let index) = reason, let rule = access.policy.rules?[index] {
      decision.rule = ExplainAccess.DecidingRule(rule, at: index)
    }
    decision.allowed = method.map { allowance?.gives($0) ?? false }
    guard let allowance else { return decision }
    decision.methods = allowance.methods?.sorted()
    decision.scopes = allowance.scopes
    decision.audiences = allowance.audiences
    decision.may = allowance.mayHold ? "hold" : "use"
    decision.confirm = allowance.confirmation == .never ? nil : allowance.confirmation.rawValue
    return decision
  }

  /// The client that a question is about.
  private func client(
    meantBy params: ExplainAccess.Params, _ own: Connection
  ) throws(BrokerError) -> AccessClient {
    var client = try process(meantBy: params, own)
    if let socket = params.socket {
      guard access.policy.sockets[socket] != nil else {
        throw BrokerError(JSONMismatch(at: JSONPointer.root.member("socket"), expected: "the name of a limited socket"))
      }
      client.socket = socket
    }
    if let uid = params.uid {
      guard let user = UInt32(exactly: uid) else {
        throw BrokerError(JSONMismatch(at: JSONPointer.root.member("uid"), expected: "the number of a user"))
      }
      client.user = user
      client.isOwner = user == ProcessIdentity.user
    }
    client.unit = params.unit ?? client.unit
    client.label = params.label ?? client.label
    client.tool = params.tool ?? client.tool
    return client
  }

  private func process(meantBy params: ExplainAccess.Params, _ own: Connection) throws(BrokerError) -> AccessClient {
    if let pid = params.pid {
      let process = Int32(exactly: pid) ?? 0
      if let held = connections.all.filter({ $0.principal.process == process && process > 0 })
        .max(by: { $0.id.number < $1.id.number })
      {
        identifyPeer(of: held)
        return client(of: held)
      }
      guard process > 0, let user = ProcessIdentity.user(of: process) else {
        throw BrokerError(JSONMismatch(at: JSONPointer.root.member("pid"), expected: "the number of a running process"))
      }
      return AccessClient(at: .socket, user: user, peer: PeerProcess(running: process))
    }
    let isOfNone = params.socket == nil && params.uid == nil && params.unit == nil && params.label == nil
    guard isOfNone, params.tool == nil else { return AccessClient(at: .socket) }
    identifyPeer(of: own)
    return client(of: own)
  }

  /// Whether the user of a client may connect by the way that it comes.
  private func admits(_ client: AccessClient) -> Bool {
    let entrances = client.socket.map { [Entrance.limited($0)] } ?? [.socket, .activation]
    let ways = entrances.compactMap { listeners[$0] }
    return ways.isEmpty || ways.contains { $0.admits(client.user) }
  }
}

extension AccessPolicy.Decision {
  /// Its word in the answer.
  fileprivate var word: String {
    switch self {
    case .unlimited: "unlimited"
    case .outsideSocket: "outsideSocket"
    case .socket: "socket"
    case .rule: "rule"
    case .noRule: "noRule"
    }
  }
}

extension ExplainAccess.DecidingRule {
  fileprivate init(_ rule: AccessPolicy.Rule, at index: Int) {
    let client = rule.client
    self.init(
      index: index, socket: client.socket,
      uids: client.users?.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" },
      unit: client.unit?.text, label: client.label?.text, tool: client.tool, profiles: rule.profiles)
  }
}
