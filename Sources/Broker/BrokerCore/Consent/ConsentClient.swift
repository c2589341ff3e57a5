/// One process of a client's chain: its own, or one of its ancestors.
package struct ProcessLink: Hashable, Sendable {
  /// The number and the start, which name one process: numbers are used again.
  package struct ID: Hashable, Sendable {
    /// Its number.
    package var pid: Int32
    /// When it was started, in uptime; the kernel tells it in hundredths of a second (proc(5)).
    package var startedAt: Duration

    /// A process.
    package init(_ pid: Int32, startedAt: Duration) { (self.pid, self.startedAt) = (pid, startedAt) }
  }

  /// Names it.
  package var id: ID
  /// Whether its user is the broker's.
  package var isOwners: Bool
  /// The name of the program that it executes: shown, and for one purpose more, see ``ConsentClient/isForwarded``.
  package var command: String?
  /// The file that it executes: shown, and deciding nothing.
  package var executable: String?
  /// Whether it is the first process, or a user's service manager: all of a user's programs come from it.
  package var isManager: Bool

  /// A process of these members.
  package init(
    _ id: ID, isOwners: Bool, command: String? = nil, executable: String? = nil, isManager: Bool = false
  ) {
    (self.id, self.isOwners, self.isManager) = (id, isOwners, isManager)
    (self.command, self.executable) = (command, executable)
  }
}

/// A client as its owner is asked about it: the identity by which rules know it, and its processes.
package struct ConsentClient: Hashable, Sendable {
  /// The connection; nil for the broker itself.
  package var connection: ClientID?
  /// Its identity, with unit, label and tool as far as they are known.
  package var identity: AccessClient
  /// Its process and the ancestors of that, the nearest first; empty where its process is not known.
  package var chain: [ProcessLink]
  /// Whether its socket has consents remembered although it is forwarded.
  package var remembersForwarded: Bool

  /// A client of these members.
  package init(
    connection: ClientID?, _ identity: AccessClient, chain: [ProcessLink] = [], remembersForwarded: Bool = false
  ) {
    (self.connection, self.identity) = (connection, identity)
    (self.chain, self.remembersForwarded) = (chain, remembersForwarded)
  }

  /// The programs that carry a socket to another machine (ssh(1), `-R`), or to this one (`-L`).
  private static let forwarders: Set = ["ssh", "sshd", "sshd-session"]

  /// Whether its process forwards the socket, so that any program of another machine may be behind it.
  ///
  /// The name of a program is a claim; here it only takes: a program that calls itself so is asked about more often.
  package var isForwarded: Bool { chain.first?.command.map(Self.forwarders.contains) ?? false }

  /// The age of an ancestor that stands for what it starts: a shell that runs one command is younger, and a terminal's
  /// shell or an agent older.
  static let settledAge = Duration.seconds(60)

  /// The subject of a consent that names none.
  ///
  /// Desktops give each application a scope of its own (systemd.special(7), `app.slice`). Otherwise it is the nearest
  /// ancestor of the owner's that is no new one, and has something between itself and the service manager: terminal
  /// emulators, multiplexers and daemons stand for too much.
  ///
  /// - Parameters:
  ///   - isRemembered: whether the consent is for more than the requests that wait; else it is for this process alone.
  ///   - uptime: now.
  /// - Returns: the subject.
  func defaultSubject(isRemembered: Bool, at uptime: Duration) -> ConsentSubject {
    guard isRemembered, !isForwarded else { return ownProcess }
    if let name = identity.unit, name.hasPrefix(ClientPattern.userPrefix + "app-"), name.hasSuffix(".scope"), let unit {
      return unit
    }
    for (link, parent) in zip(chain.dropFirst(), chain.dropFirst(2)) {
      guard !link.isManager else { break }
      if !parent.isManager, link.isOwners, uptime - link.id.startedAt >= Self.settledAge {
        return .ancestor(link.id)
      }
    }
    return ownProcess
  }

  /// The subject of a consent for its unit; nil where it has none.
  ///
  /// The managers of two users may name units alike, so that the user and the socket belong to it.
  var unit: ConsentSubject? {
    identity.unit.map { .unit($0, user: identity.user, socket: identity.socket) }
  }

  /// The subject of a consent for this process alone: its connection where the process is not known.
  var ownProcess: ConsentSubject {
    if let own = chain.first { return .process(own.id) }
    return .connection(connection)
  }
}

/// The part of all clients that a consent is for.
package enum ConsentSubject: Hashable, Sendable {
  /// One process.
  case process(ProcessLink.ID)
  /// One process and all that it starts.
  case ancestor(ProcessLink.ID)
  /// A systemd unit, of clients of one user that come by one socket; nil for the broker's own.
  case unit(String, user: UInt32, socket: String?)
  /// A limited socket; nil for the broker's own.
  case socket(String?)
  /// One connection, whose process is not known.
  case connection(ClientID?)

  /// Whether a client belongs to it.
  ///
  /// Any program may be behind a client that forwards: it is part of nothing but itself.
  func includes(_ client: ConsentClient) -> Bool {
    switch self {
    case .process(let id): client.chain.first?.id == id
    case .connection(let connection): client.chain.isEmpty && connection == client.connection
    case _ where client.isForwarded: false
    case .ancestor(let id): client.chain.contains { $0.id == id }
    case .unit: client.unit == self
    case .socket(let socket): client.identity.socket == socket
    }
  }
}

/// How often a rule has the owner asked before a token is given.
package enum Confirmation: String, CaseIterable, Comparable, Sendable {
  /// Never.
  case never
  /// Once for each subject, as long as the answer is remembered.
  case once
  /// For each request.
  case always

  /// More often is more.
  package static func < (one: Confirmation, other: Confirmation) -> Bool { one.rank < other.rank }

  private var rank: Int {
    switch self {
    case .never: 0
    case .once: 1
    case .always: 2
    }
  }
}

/// The owner's settings for questions: the section `access.confirm` of the configuration.
package struct ConsentRules: Hashable, Sendable {
  /// How long a question waits for its answer.
  package var patience: Duration
  /// How long a consent lives without being used.
  package var remember: Duration

  /// The settings; without arguments the defaults.
  package init(patience: Duration = .seconds(20), remember: Duration = .seconds(600)) {
    (self.patience, self.remember) = (patience, remember)
  }
}
