/// The users and groups of `/etc/passwd` and `/etc/group`, read directly: the command is a static program, which loads no
/// name service (nsswitch.conf(5)).
package struct AccountFiles: Sendable {
  private struct User {
    let name: Substring
    let number: UInt32
    let group: UInt32
    let home: Substring
  }

  private struct Group {
    let name: Substring
    let number: UInt32
    let members: [Substring]
  }

  private let users: [User]
  private let groups: [Group]

  /// Reads their lines (passwd(5), group(5)); one that is none is left out.
  package init(passwd: String, group: String) {
    users = Self.lines(passwd).compactMap { fields in
      guard fields.count >= 4, let number = UInt32(fields[2]), let group = UInt32(fields[3]) else { return nil }
      return User(name: fields[0], number: number, group: group, home: fields.count > 5 ? fields[5] : "")
    }
    groups = Self.lines(group).compactMap { fields in
      guard fields.count >= 4, let number = UInt32(fields[2]) else { return nil }
      return Group(name: fields[0], number: number, members: fields[3].split(separator: ","))
    }
  }

  /// Longer than the list of any machine that keeps its users in files.
  private static let longest = 8 << 20

  /// Reads the files of this machine.
  ///
  /// - Returns: nil where one of them is there and cannot be read: then everything is possible.
  package static func read() -> AccountFiles? {
    guard let passwd = text(of: "/etc/passwd"), let group = text(of: "/etc/group") else { return nil }
    return AccountFiles(passwd: passwd, group: group)
  }

  private static func text(of path: String) -> String? {
    do throws(Errno) {
      let bytes = try FileDescriptor.open(path, .read).contents(limit: longest + 1)
      return bytes.count > longest ? nil : String(decoding: bytes, as: UTF8.self)
    } catch {
      return error == .noEntry ? "" : nil
    }
  }

  private static func lines(_ text: String) -> [[Substring]] {
    text.split(separator: "\n").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
  }

  /// Whether a user has an entry.
  package func has(user: UInt32) -> Bool { users.contains { $0.number == user } }

  /// The number of a user that is named by its name or its number.
  package func user(named name: String) -> UInt32? {
    UInt32(name) ?? users.first { $0.name == name }?.number
  }

  /// The name of a user; nil where it has no entry.
  package func name(ofUser number: UInt32) -> String? { users.first { $0.number == number }.map { String($0.name) } }

  /// The home of a user; nil where it has no entry, or one without an absolute path.
  package func home(ofUser number: UInt32) -> String? {
    users.first { $0.number == number }.flatMap { PathName.isAbsolute($0.home) ? String($0.home) : nil }
  }

  /// The name of a group; its number where it has no entry.
  package func name(ofGroup number: UInt32) -> String {
    groups.first { $0.number == number }.map { String($0.name) } ?? String(number)
  }

  /// The number of a group that is named by its name or its number.
  package func group(named name: String) -> UInt32? {
    UInt32(name) ?? groups.first { $0.name == name }?.number
  }

  /// The members of a group but root, which may do everything, and one user; a name without an entry is another user's.
  package func members(ofGroup number: UInt32, without user: UInt32) -> [String] {
    var names: [String] = []
    func note(_ name: Substring) {
      let name = String(name)
      if !names.contains(name) { names.append(name) }
    }
    for other in users where other.group == number && other.number != user && other.number != 0 { note(other.name) }
    for group in groups where group.number == number {
      for name in group.members {
        let account = users.first { $0.name == name }?.number
        if account != user, account != 0 { note(name) }
      }
    }
    return names
  }
}
