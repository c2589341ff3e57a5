import BrokerCore
import BrokerProtocol
import BrokerServer
import Configuration
import LinuxSystem
import Logging
import StateDirectory

/// The sockets that give their clients some profiles only.
extension Daemon {
  /// The names of this machine's users and groups, as they are now.
  var accountNames: AccountNames { AccountNames() }

  /// Listens on the limited sockets of a configuration, and no more on others.
  ///
  /// One that cannot be used is told in the log, and tried again with the next reload: the broker serves the others.
  func openLimitedSockets(of configuration: BrokerConfiguration, _ server: BrokerServer) {
    for old in limitedSockets {
      let entrance = Entrance.limited(old.name)
      let stays =
        configuration.sockets.contains { $0.listensAsDoes(old) } && server.assumeIsolated { $0.isInPlace(entrance) }
      guard !stays else { continue }
      server.assumeIsolated { $0.close(entrance) }
      limitedSockets.removeAll { $0.name == old.name }
    }
    socketReports = configuration.sockets.map { limited in
      let path = limited.path ?? standardPath(of: limited)
      guard !limitedSockets.contains(where: { $0.name == limited.name }) else {
        return GetStatus.Socket(name: limited.name, path: path)
      }
      return GetStatus.Socket(name: limited.name, path: path, problem: open(limited, at: path, server))
    }
  }

  /// Listens on a limited socket; returns why it cannot be used.
  private func open(_ limited: LimitedSocket, at path: String, _ server: BrokerServer) -> String? {
    do {
      let users = try accountNames.users(limited.users, of: "sockets.\(limited.name).uids")
      let sharing = UnixSocket.Sharing(mode: limited.mode, group: try accountNames.group(of: limited))
      try server.listen(try lock.listen(at: path, sharing), as: .limited(limited.name), users: users)
      limitedSockets.append(limited)
      log.notice("listening", .word("limitedSocket", limited.name), .word("path", path))
      return nil
    } catch {
      let reason = (error as? StartFailure)?.message ?? "\(error)"
      log.error(
        "a limited socket cannot be used", .word("name", limited.name), .word("path", path), .word("reason", reason))
      return reason
    }
  }

  /// The path of a socket that names none: alone in its directory, which can be mounted into a container.
  private func standardPath(of limited: LimitedSocket) -> String {
    let own = socket.isEmpty ? source.paths.ownSocket : socket
    return "\(PathName.directory(of: own))/sockets/\(limited.name)/broker.sock"
  }
}

/// The users and groups that a configuration names, as numbers.
struct AccountNames {
  private let files = AccountFiles.read()
  private let owner = ProcessIdentity.user

  /// The policy of a configuration.
  ///
  /// - Throws: a failure of kind `configInvalid` that names an unknown user or group.
  func policy(of configuration: BrokerConfiguration) throws(StartFailure) -> AccessPolicy {
    var rules: [AccessPolicy.Rule] = []
    for (index, rule) in (configuration.access ?? []).enumerated() {
      let path = "access.rules[\(index)].client.uid"
      let users = try rule.user.map { user throws(StartFailure) in try numbers(of: user, path) }
      let client = ClientPattern(
        socket: rule.socket, users: users, unit: rule.unit, label: rule.label, tool: rule.tool)
      rules.append(AccessPolicy.Rule(client, profiles: rule.profiles, rule.allowance))
    }
    for limited in configuration.sockets {
      _ = try users(limited.users, of: "sockets.\(limited.name).uids")
      _ = try group(of: limited)
    }
    return AccessPolicy(
      rules: configuration.access == nil ? nil : rules,
      sockets: Dictionary(configuration.sockets.map { ($0.name, $0.ceiling) }) { first, _ in first })
  }

  /// The users of a list; the owner where there is none.
  func users(_ list: [UserReference]?, of path: String) throws(StartFailure) -> UserSet {
    guard let list else { return UserSet(owner) }
    var ranges: [ClosedRange<UInt32>] = []
    for user in list { ranges += try numbers(of: user, path) }
    return UserSet(ranges)
  }

  /// The group of a socket; nil for the owner's.
  func group(of limited: LimitedSocket) throws(StartFailure) -> UInt32? {
    guard let name = limited.group else { return nil }
    guard let number = files?.group(named: name) else {
      throw Self.unknown("group", name, "/etc/group", "sockets.\(limited.name).group")
    }
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
