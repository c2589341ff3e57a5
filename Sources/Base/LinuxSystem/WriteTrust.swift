import CLinux

/// Decides whether a file or a directory can be changed by another user than this one and root: by who can really write
/// to it, not by the bits of its mode alone.
///
/// A group may write where this process is in it and no other user is: a user's private group (useradd(8)), with which
/// accounts with the file mode mask 002 work, the group of a volume (Kubernetes' `fsGroup`), or the group 0 of a container
/// with a user number of its own.
package struct WriteTrust: Sendable {
  /// Why a file or a directory is not trusted.
  package enum Objection: Equatable, Sendable {
    /// Its owner is another user.
    case owner(UInt32)
    /// A group may write to it that has other members, or whose members are not known.
    case group(String, members: [String])
    /// Everyone may write to it.
    case everyone

    /// The access of others, and the command that ends it; without a full stop.
    package func description(of path: String) -> String {
      let shown = ShellWord.quoted(path)
      switch self {
      case .owner(let owner):
        return "\(path) belongs to user \(owner), who could change it; run: chown \(ProcessIdentity.user) \(shown)"
      case .group(let group, let members):
        let others = members.prefix(3).joined(separator: ", ") + (members.count > 3 ? ", …" : "")
        let who = members.isEmpty ? "the group \(group)" : "the group \(group) (\(others))"
        return "\(path) can be changed by \(who); run: chmod g-w \(shown), or trust them with --trust-group \(group)"
      case .everyone: return "\(path) can be changed by every user; run: chmod o-w \(shown)"
      }
    }
  }

  /// The variable that names trusted groups, by name or number, between commas.
  package static let variable = "AUTHBROKER_TRUST_GROUP"

  private let user: UInt32
  private let trusted: String?
  private let isMember: @Sendable (UInt32) -> Bool
  private let accounts: @Sendable () -> AccountFiles?

  /// The rule for this process.
  package static var current: WriteTrust {
    WriteTrust(
      user: ProcessIdentity.user, trusted: EnvironmentVariables.current[variable],
      isMember: { clinux_is_in_group($0) == 1 }, accounts: AccountFiles.read)
  }

  /// The rule for a user.
  ///
  /// - Parameters:
  ///   - user: whose process decides.
  ///   - trusted: groups that may write, by name or number, between commas.
  ///   - isMember: whether the process is in a group.
  ///   - accounts: the users and groups of the machine; nil where they are not known.
  init(
    user: UInt32, trusted: String?, isMember: @escaping @Sendable (UInt32) -> Bool,
    accounts: @escaping @Sendable () -> AccountFiles?
  ) {
    self.user = user
    self.trusted = trusted
    self.isMember = isMember
    self.accounts = accounts
  }

  /// Why another user could change something; nil where none could.
  ///
  /// In a directory with the sticky bit only the owner of an entry can exchange it (inode(7)), and each entry is looked at.
  ///
  /// - Parameters:
  ///   - path: where it is.
  ///   - status: what it is like.
  /// - Returns: the first reason.
  package func objection(to path: String, _ status: FileStatus) -> Objection? {
    let isOwn = status.owner == user || status.owner == 0
    let isSticky = status.kind == .directory && status.permissions & 0o1000 != 0
    // The permissions of a symbolic link mean nothing.
    let writers = status.kind == .symbolicLink || isSticky ? 0 : status.permissions & 0o022
    guard !isOwn || writers != 0 else { return nil }
    if UserNamespace.hidesOwner(status, of: path) { return nil }
    if !isOwn, accounts()?.has(user: status.owner) ?? true { return .owner(status.owner) }
    guard writers & 0o002 == 0 else { return .everyone }
    return writers == 0 ? nil : objection(toGroup: status.group)
  }

  private func objection(toGroup group: UInt32) -> Objection? {
    guard let accounts = accounts() else { return .group("\(group)", members: []) }
    let names = trusted?.split(separator: ",").map { String($0) } ?? []
    guard !names.contains(where: { accounts.group(named: $0) == group }) else { return nil }
    let others = accounts.members(ofGroup: group, without: user)
    guard others.isEmpty, group == user || isMember(group) else {
      return .group(accounts.name(ofGroup: group), members: others)
    }
    return nil
  }
}

/// The mapping of owners by a user namespace (user_namespaces(7)): an owner from outside is shown as the overflow user.
enum UserNamespace {
  /// `/proc/sys/kernel/overflowuid`, which is this everywhere.
  private static let overflow: UInt32 = 65534

  /// Whether a root directory, or something on a file system that is mounted read-only, belongs to a user that has no number
  /// in this process's user namespace: those who made the sandbox.
  static func hidesOwner(_ status: FileStatus, of path: String) -> Bool {
    guard status.owner == overflow, path == "/" || MachineLimits.isReadOnly(at: path) else { return false }
    return !isMapped(overflow)
  }

  /// Whether a user has a number from outside: lines of the first number inside, the first one outside, and how many.
  private static func isMapped(_ user: UInt32) -> Bool {
    guard let map = try? FileDescriptor.open("/proc/self/uid_map", .read).contents(limit: 1 << 16) else { return true }
    return String(decoding: map, as: UTF8.self).split(separator: "\n").contains { line in
      let numbers = line.split(separator: " ").compactMap { UInt64($0) }
      guard numbers.count == 3 else { return true }
      return UInt64(user) >= numbers[0] && UInt64(user) - numbers[0] < numbers[2]
    }
  }
}
