import BrokerCore
import BrokerProtocol
import BrokerServer
import Configuration
import JSON
import LinuxSystem
import Logging
import StateDirectory
import Transport

/// A limited socket of this broker.
struct LimitedListener {
  /// Its entry in the configuration, or what a client has asked for.
  var limited: LimitedSocket
  /// Its path.
  var path: String
  /// The users that may connect; nil until it has listened.
  var admission: AccountNames.Admission?
  /// Why it cannot be used; nil where it listens.
  var problem: String?
  /// The end of one that was opened at run time; nil for one of the configuration.
  var end: (at: Timestamp, timer: TimerID)?
  /// The connection with which it ends; nil where it ends by its time alone.
  var opener: ClientID?

  /// A socket that does not listen yet.
  init(_ limited: LimitedSocket, at path: String) { (self.limited, self.path) = (limited, path) }

  /// Its entrance.
  var entrance: Entrance { .limited(limited.name) }
}

/// The sockets that give their clients some profiles only.
extension Daemon {
  /// Listens on the limited sockets of a configuration, and no more on others; those that were opened at run time stay,
  /// with the profiles that are left.
  ///
  /// One that cannot be used is told in the log, and tried again with the next reload: the broker serves the others.
  func openLimitedSockets(of configuration: BrokerConfiguration, _ names: AccountNames, _ server: BrokerServer) {
    let fresh = configuration.sockets
    for old in limitedSockets where old.end == nil && !fresh.contains(where: { $0.listensAsDoes(old.limited) }) {
      close(old, server)
    }
    // The ceilings of those that stay may be others.
    for (index, old) in limitedSockets.enumerated() {
      let ceiling = fresh.first { $0.name == old.limited.name }?.ceiling
      limitedSockets[index].limited.ceiling = ceiling ?? old.limited.ceiling.within(configuration)
    }
    for limited in fresh where !limitedSockets.contains(where: { $0.limited.name == limited.name }) {
      limitedSockets.append(LimitedListener(limited, at: path(of: limited)))
    }
    for name in passedSockets.names where !fresh.contains(where: { $0.name == name }) {
      log.warning("no limited socket has the name of a socket that the service manager has passed", .word("name", name))
    }
    for index in limitedSockets.indices { bindLimitedSocket(at: index, server, names) }
    watchSockets(server)
  }

  private func path(of limited: LimitedSocket) -> String {
    passedSockets.path(of: limited.name) ?? limited.path ?? standardPath(of: limited.name)
  }

  /// Listens on a limited socket, unless it does and its path leads to it.
  private func bindLimitedSocket(at index: Int, _ server: BrokerServer, _ names: AccountNames? = nil) {
    let socket = limitedSockets[index]
    do {
      if socket.admission == nil || !isInPlace(socket, server) {
        let section = "sockets.\(socket.limited.name)."
        let admission = try socket.admission ?? (names ?? AccountNames()).admission(to: socket.limited, section)
        try listen(on: socket, admission, server)
        limitedSockets[index].admission = admission
      }
      limitedSockets[index].problem = nil
    } catch {
      let reason = Self.reason(error)
      limitedSockets[index].problem = reason
      guard socket.problem != reason else { return }
      log.error(
        "a limited socket cannot be used", .word("name", socket.limited.name), .word("path", socket.path),
        .word("reason", reason))
    }
  }

  /// Listens on a limited socket: on the one that a service manager has passed by its name, whose path and permissions are
  /// the manager's, or else where the configuration says; others may enter a directory of its own where they may connect.
  ///
  /// - Throws: what is in the way.
  func listen(on socket: LimitedListener, _ admission: AccountNames.Admission, _ server: BrokerServer) throws {
    if let passed = try passedSockets.listening(socket.limited.name) {
      log.notice("listening", .word("limitedSocket", socket.limited.name), .word("passedSocket", passed.path))
      return try server.listen(passed, as: socket.entrance, users: admission.users)
    }
    try server.listen(
      try lock.listen(at: socket.path, admission.sharing), as: socket.entrance, users: admission.users)
    if socket.limited.path == nil, admission.sharing.mode & 0o066 != 0 {
      try FileDescriptor.open(PathName.directory(of: socket.path), .read).setPermissions(0o711)
    }
    log.notice("listening", .word("limitedSocket", socket.limited.name), .word("path", socket.path))
  }

  /// A failure in words; `--socket` is for the broker's own socket.
  static func reason(_ error: any Error) -> String {
    var reason = (error as? StartFailure)?.message ?? "\(error)"
    for advice in [", with --socket or --state", " with --socket"] {
      if let place = reason.firstOccurrence(of: advice) { reason.removeSubrange(place) }
    }
    return reason
  }

  private func isInPlace(_ socket: LimitedListener, _ server: BrokerServer) -> Bool {
    server.assumeIsolated { $0.isInPlace(socket.entrance) }
  }

  /// Listens again on the limited sockets whose path has gone: where it was or, where that is the broker's choice, beside
  /// its own socket.
  ///
  /// - Returns: how many do, and how many could not be bound.
  func restoreLimitedSockets(_ server: BrokerServer) -> (restored: Int, missing: Int) {
    var (restored, missing) = (0, 0)
    for (index, socket) in limitedSockets.enumerated() where socket.admission != nil && !isInPlace(socket, server) {
      bindLimitedSocket(at: index, server)
      let other = standardPath(of: socket.limited.name)
      if limitedSockets[index].problem != nil, socket.limited.path == nil, other != socket.path {
        limitedSockets[index].path = other
        bindLimitedSocket(at: index, server)
      }
      if limitedSockets[index].problem == nil { restored += 1 } else { missing += 1 }
    }
    return (restored, missing)
  }

  /// Listens on a limited socket no more.
  func close(_ socket: LimitedListener, _ server: BrokerServer) {
    limitedSockets.removeAll { $0.limited.name == socket.limited.name }
    server.assumeIsolated { $0.close(socket.entrance) }
  }

  /// The path of a socket that names none: alone in its directory, which can be mounted into a container.
  func standardPath(of name: String) -> String { "\(standardDirectory)/\(name)/broker.sock" }

  /// The directory of the directories of these.
  var standardDirectory: String {
    let own = socket.isEmpty ? source.paths.ownSocket : socket
    return "\(PathName.directory(of: own))/sockets"
  }
}

extension AccessPolicy.Ceiling {
  /// The same for the profiles that are configured.
  func within(_ configuration: BrokerConfiguration) -> AccessPolicy.Ceiling {
    let names = Set(configuration.profiles.map(\.name))
    var ceiling = self
    ceiling.profiles.removeAll { !names.contains($0) }
    return ceiling
  }
}

/// The users and groups that a configuration names, as numbers.
struct AccountNames {
  /// The users that may connect to a limited socket.
  struct Admission {
    /// The users, whose processes may connect.
    let users: UserSet
    /// The permissions in the file system.
    let sharing: UnixSocket.Sharing
  }

  private let files = AccountFiles.read()
  private let owner = ProcessIdentity.user

  /// The policy of a configuration, and of the sockets that were opened at run time.
  ///
  /// - Throws: a failure of kind `configInvalid` that names an unknown user or group.
  func policy(
    of configuration: BrokerConfiguration, opened: [LimitedListener] = []
  ) throws(StartFailure) -> AccessPolicy {
    var rules: [AccessPolicy.Rule] = []
    for (index, rule) in (configuration.access ?? []).enumerated() {
      let path = "access.rules[\(index)].client.uid"
      let users = try rule.user.map { user throws(StartFailure) in try numbers(of: user, path) }
      let client = ClientPattern(
        socket: rule.socket, users: users, unit: rule.unit, label: rule.label, tool: rule.tool)
      rules.append(AccessPolicy.Rule(client, profiles: rule.profiles, rule.allowance))
    }
    for limited in configuration.sockets { _ = try admission(to: limited, "sockets.\(limited.name).") }
    let ceilings =
      configuration.sockets.map { ($0.name, $0.ceiling) }
      + opened.map { ($0.limited.name, $0.limited.ceiling.within(configuration)) }
    return AccessPolicy(
      rules: configuration.access == nil ? nil : rules, sockets: Dictionary(ceilings) { first, _ in first })
  }

  /// The users that may connect to a limited socket.
  ///
  /// - Throws: a failure of kind `configInvalid` that names an unknown user or group; `section` stands before their key.
  func admission(to limited: LimitedSocket, _ section: String) throws(StartFailure) -> Admission {
    let users = try users(limited.users, of: section + "uids")
    let group = try group(limited.group, of: section + "group")
    return Admission(users: users, sharing: UnixSocket.Sharing(mode: limited.mode, group: group))
  }

  /// The users of a list; the owner where there is none.
  private func users(_ list: [UserReference]?, of path: String) throws(StartFailure) -> UserSet {
    guard let list else { return UserSet(owner) }
    var ranges: [ClosedRange<UInt32>] = []
    for user in list { ranges += try numbers(of: user, path) }
    return UserSet(ranges)
  }

  /// The number of a group; nil where none is named.
  private func group(_ name: String?, of path: String) throws(StartFailure) -> UInt32? {
    guard let name else { return nil }
    guard let number = files?.group(named: name) else { throw Self.unknown("group", name, "/etc/group", path) }
    return number
  }

  private func numbers(of user: UserReference, _ path: String) throws(StartFailure) -> [ClosedRange<UInt32>] {
    switch user {
    case .number(let number): return [number...number]
    case .name(let name):
      guard let number = files?.user(named: name) else { throw Self.unknown("user", name, "/etc/passwd", path) }
      return [number...number]
    case .subordinates:
      let ranges = SubordinateUsers.read(of: owner, named: files?.name(ofUser: owner))
      guard !ranges.isEmpty else {
        throw StartFailure(
          kind: .configInvalid,
          message:
            "\(path): the broker's user has no subordinate users in /etc/subuid; add a range (subuid(5)), or write "
            + "the numbers")
      }
      return ranges
    }
  }

  private static func unknown(_ kind: String, _ name: String, _ file: String, _ path: String) -> StartFailure {
    StartFailure(kind: .configInvalid, message: "\(path): there is no \(kind) \"\(name)\" in \(file); write the number")
  }
}
