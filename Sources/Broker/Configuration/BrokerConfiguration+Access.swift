package import BrokerCore
package import BrokerProtocol
import ConfigurationFile
import JSON

/// A user, as a configuration names it.
package enum UserReference: Sendable, Equatable {
  /// The number of a user.
  case number(UInt32)
  /// The name of a user (passwd(5)).
  case name(String)
  /// The owner's users in user namespaces (subuid(5)).
  case subordinates
}

/// One rule of the section `access`.
package struct AccessRule: Sendable, Equatable {
  /// The limited socket by which its clients come; nil for any way.
  package var socket: String?
  /// The user of its clients; nil for any.
  package var user: UserReference?
  /// The systemd unit of its clients; nil for any.
  package var unit: NamePattern?
  /// The label that a security module gives its clients; nil for any.
  package var label: NamePattern?
  /// The name that its clients give themselves; nil for any.
  package var tool: String?
  /// The profiles; nil for all.
  package var profiles: [ProfileName]?
  /// The methods and tokens that it allows.
  package var allowance: Allowance
}

/// One entry of the section `sockets`.
package struct LimitedSocket: Sendable, Equatable {
  /// Its name, by which rules know it.
  package var name: String
  /// Its absolute path; nil for one beside the broker's own socket.
  package var path: String?
  /// Its permissions.
  package var mode: UInt32
  /// The group that it belongs to, by name or number; nil for the owner's.
  package var group: String?
  /// The users whose processes may connect; nil for the owner.
  package var users: [UserReference]?
  /// The most that its clients may have.
  package var ceiling: AccessPolicy.Ceiling

  /// Whether another entry is the same socket, whatever its clients may have.
  package func listensAsDoes(_ other: LimitedSocket) -> Bool {
    var copy = other
    copy.ceiling = ceiling
    return self == copy
  }
}

/// The sections `sockets` and `access`: who may ask for what.
extension BrokerConfiguration {
  /// How many entries either section may have: more than anybody reads, and few enough to be compared at each connection.
  private static let mostEntries = 1000
  /// A client may hold tokens, or only use them.
  private enum Possession: String, CaseIterable, Sendable { case hold, use }
  private static let possessionSetting = ChoiceSetting("may", standard: Possession.hold)
  private static let confirmationSetting = ChoiceSetting("confirm", standard: Confirmation.never)

  /// The keys of an entry of `sockets`.
  package static let socketKeys: [String] = {
    let context = ConfigurationContext()
    var entry = context.blankSection("sockets.NAME")
    _ = socket("", &entry, [])
    return context.keys["sockets.NAME"]
  }()

  /// Reads the limited sockets; entries with mistakes are reported and left out.
  static func sockets(_ root: inout ConfigurationSection) -> [LimitedSocket] {
    let section = root.section("sockets")
    let members = section.namedMembers()
    guard members.count <= mostEntries else {
      root.report("sockets", "has \(members.count) entries", "write at most \(mostEntries)")
      return []
    }
    let profiles = configuredNames(root)
    return members.compactMap { name, value in
      guard ProfileName(name) != nil else {
        section.report(
          nameOf: value, name, "is no name of a socket",
          "use a-z, 0-9, '.', '_' and '-', a letter or digit first, at most 64 characters")
        return nil
      }
      var entry = section.section(name, at: value, placeholder: "NAME")
      return socket(name, &entry, profiles)
    }
  }

  /// Reads one limited socket; nil where it names no profiles.
  static func socket(
    _ name: String, _ entry: inout ConfigurationSection, _ configured: [ProfileName]
  ) -> LimitedSocket? {
    entry.require("profiles", "write the names of profiles")
    let (path, group) = (entry.filePath("path"), entry.word("group"))
    let remembers = entry.flag("remember", standard: false)
    let mode = mode(&entry) ?? (group == nil ? 0o600 : 0o660)
    let users = entry.has("uids") ? users(&entry) : nil
    let profiles = profiles(&entry, configured)
    let allowance = allowance(&entry)
    entry.finish(aliases: ["profile": "profiles", "users": "uids", "uid": "uids", "permissions": "mode"])
    guard let profiles else { return nil }
    var ceiling = AccessPolicy.Ceiling(profiles: profiles, allowance)
    ceiling.remembersForwarded = remembers
    return LimitedSocket(name: name, path: path, mode: mode, group: group, users: users, ceiling: ceiling)
  }

  /// The permissions of a socket: connecting needs the right to write (unix(7)).
  private static func mode(_ entry: inout ConfigurationSection) -> UInt32? {
    guard let text = entry.string("mode") else { return nil }
    let isOctal = text.utf8.count == 4 && text.hasPrefix("0")
    if isOctal, let mode = UInt32(text, radix: 8), mode & 0o600 == 0o600, mode & ~0o666 == 0 { return mode }
    entry.report("mode", #"must be "0600", "0660" or "0666""#)
    return nil
  }

  /// Whether there is an audit unless the configuration says otherwise: who limits clients wants to know what they ask
  /// for, and a cached token costs no more with it.
  static let auditStandard = true

  /// Whether grants and refusals are audited; `opensSockets` says whether limited sockets are open that the configuration
  /// does not have.
  package func isAudited(opensSockets: Bool) -> Bool { audit && (access != nil || !sockets.isEmpty || opensSockets) }

  /// The rules, nil where the section is absent, whether there is an audit, and how the owner is asked where a rule says so.
  static func rules(
    _ root: inout ConfigurationSection
  ) -> (rules: [AccessRule]?, audit: Bool, consent: ConsentConfiguration) {
    var section = root.section("access")
    let names = root.node(at: "sockets").flatMap { try? $0.members().map(\.name) } ?? []
    let profiles = configuredNames(root)
    let rules = (section.sections("rules", atMost: mostEntries) ?? []).map { element in
      var element = element
      return rule(&element, names, profiles)
    }
    let audit = section.flag("audit", standard: auditStandard)
    var confirm = section.section("confirm")
    let consent = ConsentConfiguration(&confirm)
    section.finish()
    return (root.has("access") ? rules : nil, audit, consent)
  }

  private static func rule(
    _ element: inout ConfigurationSection, _ sockets: [String], _ configured: [ProfileName]
  ) -> AccessRule {
    var client = element.section("client")
    let socket = client.string("socket", takesAny: false)
    if let socket, !sockets.contains(socket) {
      let nearest = Spelling.nearest(to: socket, among: sockets)
      client.report(
        "socket", "names a socket that is not configured",
        nearest.map { "did you mean \"\($0)\"?" } ?? "add it to sockets")
    }
    let user = client.value("uid").flatMap { Self.user(at: $0, client, "uid") }
    let (unit, label, tool) = (unit(&client), label(&client), client.word("tool"))
    client.finish(aliases: ["user": "uid", "name": "tool", "service": "unit", "apparmor": "label", "selinux": "label"])
    let profiles = element.has("profiles") ? profiles(&element, configured) : nil
    element.note("profiles")
    var allowance = allowance(&element)
    allowance.confirmation = element.read(confirmationSetting)
    element.finish(aliases: ["profile": "profiles", "clients": "client", "consent": "confirm", "ask": "confirm"])
    return AccessRule(
      socket: socket, user: user, unit: unit, label: label, tool: tool, profiles: profiles, allowance: allowance)
  }

  // MARK: Lists

  /// The names that stand in the file: a profile with a mistake is no reason for another one here.
  private static func configuredNames(_ root: ConfigurationSection) -> [ProfileName] {
    let names = root.node(at: "profiles").flatMap { try? $0.members().map(\.name) } ?? [ProfileName.default.description]
    return names.compactMap(ProfileName.init)
  }

  private static func profiles(_ section: inout ConfigurationSection, _ configured: [ProfileName]) -> [ProfileName]? {
    guard let names = section.strings("profiles") else { return nil }
    if names.isEmpty { section.report("profiles", "is empty", "name a profile") }
    let known = configured.map(\.description)
    for (index, name) in names.enumerated() where !known.contains(name) {
      let nearest = Spelling.nearest(to: name, among: known)
      section.report(
        "profiles", element: index, "names a profile that is not configured",
        nearest.map { "did you mean \"\($0)\"?" } ?? "add it to profiles")
    }
    return names.compactMap(ProfileName.init)
  }

  private static func allowance(_ section: inout ConfigurationSection) -> Allowance {
    let methods = section.strings("methods")
    for (index, name) in (methods ?? []).enumerated() where !Allowance.names.contains(name) {
      section.report(
        "methods", element: index, "is no method that a rule can allow",
        Spelling.nearest(to: name, among: Allowance.names).map { "did you mean \"\($0)\"?" })
    }
    let scopes = section.strings("scopes")
    if let scopes, scopes.isEmpty || (try? TokenTarget.scopes(scopes)) == nil {
      section.report("scopes", "must be 1 to \(TokenTarget.mostScopes) scopes of visible ASCII characters")
    }
    let audiences = section.strings("audiences")
    if let audiences, audiences.isEmpty || !audiences.allSatisfy(TokenTarget.isAudience) {
      section.report(
        "audiences", "must have entries of 1 to \(TokenTarget.longestAudience) bytes without control characters")
    }
    if methods?.isEmpty == true { section.report("methods", "is empty", "name a method") }
    let possession = section.read(possessionSetting)
    return Allowance(
      methods: methods.map(Set.init), scopes: scopes, audiences: audiences, mayHold: possession == .hold)
  }

  private static func users(_ section: inout ConfigurationSection) -> [UserReference] {
    guard let node = section.value("uids") else { return [] }
    guard let elements = try? node.elements(), !elements.isEmpty else {
      section.report("uids", "must be a list of users", #"write their names or numbers, or "subuid""#)
      return []
    }
    return elements.compactMap { user(at: $0, section, "uids") }
  }

  /// A user by its name, by its number, or one of the owner's subordinates.
  private static func user(at node: JSONNode, _ section: ConfigurationSection, _ key: String) -> UserReference? {
    // The last number is what system calls take for "no user" (chown(2)).
    if let number = try? node.integer(), let user = UInt32(exactly: number), user < .max { return .number(user) }
    if let name = try? node.string(), !name.isEmpty, !name.utf8.contains(where: { $0 <= 0x20 || $0 == 0x3A }) {
      return name == "subuid" ? .subordinates : .name(name)
    }
    section.report(key, #"must name users by name or number, or "subuid""#)
    return nil
  }
}
