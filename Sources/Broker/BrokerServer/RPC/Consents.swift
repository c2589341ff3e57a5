package import BrokerCore
import BrokerProtocol
import LinuxSystem
import Logging

/// The questions to the owner whether a client may have a token.
extension BrokerServer {
  /// A client as its owner is asked about it: its processes are read as they are now.
  func consentClient(of principal: Principal) -> ConsentClient {
    guard let id = principal.client, let connection = connections[id] else {
      return ConsentClient(connection: principal.client, AccessClient(at: .socket, user: principal.user))
    }
    identifyPeer(of: connection)
    var chain: [ProcessLink] = []
    if let process = principal.process, process > 0 {
      chain = environment.ancestry(process)
      // Behind the reading: as long as it is not gone, the number was its own.
      if !connection.stream.isStill(process, acceptedAt: connection.acceptedAt) { chain = [] }
    }
    return ConsentClient(
      connection: id, client(of: connection), chain: chain, remembersForwarded: principal.remembersForwarded)
  }

  /// Takes in that a question has ended: each does once, and here alone the server hears of it.
  func note(_ decision: ConsentDecision) {
    let identity = decision.client.identity
    var fields: [LogField] = [
      .word("outcome", decision.outcome.word), .word("profile", decision.profile.description),
      .word("method", decision.method), .number("uid", Int(identity.user)),
    ]
    if let socket = identity.socket { fields.append(.word("socket", socket)) }
    if let process = decision.client.chain.first {
      fields += [.number("pid", Int(process.id.pid)), .word("command", process.command ?? "")]
    }
    if case .allowed(let subject, let remember) = decision.outcome {
      fields += [
        .word("subject", subject.shown(remember: remember).subject),
        .number("rememberSeconds", Int(remember.components.seconds)),
      ]
    }
    log.write(.info, "a consent was decided", fields)
  }
}

extension ProcessLink {
  /// A process and its ancestors, as the kernel tells of them.
  package static func ancestry(of pid: Int32) -> [ProcessLink] {
    ProcessAncestry(of: pid).processes.map { process in
      ProcessLink(
        ID(process.pid, startedAt: process.startedAt), isOwners: process.user == ProcessIdentity.user,
        command: process.program, executable: process.executable, isManager: process.isManager)
    }
  }
}

/// The routes of questions to the owner, for clients that have the state directory: no client answers its own.
extension Routes {
  /// One route for each of their methods.
  static let consents: [Route] = [
    Route.now(ListConsents.self) { server, _, _ in
      ListConsents.Result(consents: server.broker.assumeIsolated { $0.waitingConsents })
    }.administrative(),
    Route.now(AnswerConsent.self) { server, params, _ throws(BrokerError) in
      try server.asked { broker throws(BrokerError) in try broker.answerConsent(params) }
      return Empty()
    }.administrative(),
  ]
}
