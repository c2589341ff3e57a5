import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem

/// Noting what clients are given and refused, before their answers are written.
extension BrokerServer {
  /// Turns the audit on or off.
  package func setAudit(_ isOn: Bool) {
    auditClients.isOn = isOn
    broker.assumeIsolated { $0.setAudit(isOn) }
  }

  /// The number of a connection's client in the cache of answers; nil where there is no audit.
  @inline(__always)
  func auditNumber(of connection: RPCConnection) -> Int? {
    guard auditClients.isOn else { return nil }
    return connection.auditNumber >= auditClients.first ? connection.auditNumber : audited(connection).number
  }

  /// A connection as the audit names it: its process is asked for once.
  func audited(_ connection: RPCConnection) -> AuditedConnection {
    if let audited = connection.audited, audited.number >= auditClients.first { return audited }
    let audited = identified(connection)
    connection.audited = audited
    return audited
  }

  private func identified(_ connection: RPCConnection) -> AuditedConnection {
    let principal = connection.principal
    let isPlain = connection.tool == nil && !principal.isAdministrative
    guard isPlain, let process = principal.process, process > 0, principal.user != nil else {
      identifyPeer(of: connection)
      return audited(connection.principal, connection)
    }
    if let known = heldPeers.audited(process, connection.entrance, principal.user, as: connection.peer),
      known.number >= auditClients.first
    {
      return known
    }
    identifyPeer(of: connection)
    let audited = audited(principal, connection)
    heldPeers.note(audited, of: process, connection.entrance, principal.user, as: connection.peer)
    return audited
  }

  private func audited(_ principal: Principal, _ connection: Connection) -> AuditedConnection {
    let client = AuditedClient(
      ClientIdentity(client(of: connection)), isAdministrative: principal.isAdministrative)
    return auditClients.audited(client, broker.answers)
  }

  /// Notes that a request is about to be answered with a token, unless no client waits for it any more.
  func audit(_ grant: Grant, of key: CallerID) {
    guard auditClients.isOn, let request = rpc.requests[key], request.id != nil, !request.connection.isClosed,
      let method = request.method
    else { return }
    let audited = audited(request.connection)
    broker.assumeIsolated { $0.note(grant, to: (audited.client, audited.number), by: method) }
  }

  /// Notes that a token is about to be sent for a client.
  func audit(_ grant: Grant, to principal: Principal) {
    guard auditClients.isOn, let client = principal.client, let connection = connections[client] as? RPCConnection,
      let method = principal.method
    else { return }
    let audited = audited(connection)
    broker.assumeIsolated { $0.note(grant, to: (audited.client, audited.number), by: method) }
  }

  /// Notes that a request is refused to its client: because of rules, sockets or a person, and not for what it is.
  func auditRefusal(_ error: BrokerError, of key: CallerID, _ method: String) {
    guard auditClients.isOn, let request = rpc.requests[key], isRefusal(error, of: method, request.connection) else {
      return
    }
    let fact = AuditFact(
      .refusal, audited(request.connection).client, method: method, profile: error.profile ?? request.asked?.profile,
      scopes: request.asked?.scopes, audience: request.asked?.audience, outcome: error.kind.rawValue)
    broker.assumeIsolated { $0.note(fact) }
  }

  /// Whether an error is a refusal.
  ///
  /// A profile that does not exist for a limited client is one, whether it is configured or not: both take the same time.
  /// The question for a proof is none: the client has it or not, and a method that it may not have is refused then.
  private func isRefusal(_ error: BrokerError, of method: String, _ connection: Connection) -> Bool {
    switch error.kind {
    case .accessDenied: !FailureLog.isQuestion(method, error)
    case .consentDenied: true
    case .unknownProfile: connection.principal.permissions.client != nil && !connection.principal.isAdministrative
    default: false
    }
  }

  /// Keeps the method of a request, and the rest of what it asks for in case that it is refused.
  func noteAsked(_ method: String, _ node: JSONNode, _ key: CallerID) {
    rpc.requests[key]?.method = method
    guard auditClients.isOn else { return }
    rpc.requests[key]?.asked = AuditedQuestion(node)
  }
}

/// The parameters of a request that the audit names; nil for those that are absent, or malformed.
struct AuditedQuestion {
  /// The longest list of scopes that is read, as JSON: longer ones are no part of an entry.
  private static let longestScopes = 4096

  /// The profile.
  let profile: ProfileName?
  /// The scopes.
  let scopes: [String]?
  /// The audience.
  let audience: String?

  /// Reads parameters; nil where they say nothing of it.
  init?(_ node: JSONNode) {
    profile = node["profile"].flatMap { try? ProfileName(from: $0) }
    scopes = node["scopes"].flatMap { $0.text.count <= Self.longestScopes ? try? [String](from: $0) : nil }
    audience = node["audience"].flatMap { try? $0.word() }
    if profile == nil, scopes == nil, audience == nil { return nil }
  }
}

/// The route of the audit, for clients that have the state directory.
extension Routes {
  /// The one route.
  static let audit: [Route] = [
    Route.asked(ReadAudit.self) { broker, params, caller throws(BrokerError) in try broker.readAudit(params, caller) }
      .administrative()
  ]
}
